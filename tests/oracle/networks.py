"""Networks with dropout and with batch normalisation: as a user writes them, and the first with its masks by hand."""

from math import prod

import torch
from torch import nn

DROPPED = 0.4


def dropping(input_shape: tuple[int, ...], classes: int) -> nn.Module:
    return nn.Sequential(
        nn.Flatten(), nn.Linear(prod(input_shape), 12), nn.ReLU(), nn.Dropout(DROPPED), nn.Linear(12, classes)
    )


class DroppingByHand(nn.Module):
    """The same network; in training each pass takes the next of its masks."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(64, 12), nn.Linear(12, 10)
        self.masks: list[torch.Tensor] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.first(x.flatten(1)))
        return self.last(x * self.masks.pop(0) if self.training else x)


def batch_normalised(input_shape: tuple[int, ...], classes: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(input_shape[0], 4, 3, stride=2, bias=False),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(36, 8),
        nn.BatchNorm1d(8, momentum=0.3),
        nn.ReLU(),
        nn.Linear(8, classes),
    )
