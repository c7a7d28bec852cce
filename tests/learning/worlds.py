"""Small things to learn from, made by hand."""

import numpy as np
import torch
from torch import nn

from fallow.learning.network import Network, build_network
from fallow.learning.samples import Samples, samples_from_arrays
from fallow.learning.training import Training, plan_training
from fallow.models import Model, SmallCNN

SEED = 3
SAMPLES_EACH = 10


def digits(clients: int, shape: tuple[int, ...] = (1, 8, 8)) -> Samples:
    rng = np.random.default_rng(1)
    images = rng.integers(0, 256, (clients * SAMPLES_EACH, *shape), dtype=np.uint8)
    return samples_from_arrays(images, rng.integers(0, 10, len(images)), (0.5,) * shape[0], (0.25,) * shape[0])


def cohort(clients: int, steps: int = 4, slot: int = 7, least_batch: int = 1) -> list[Training]:
    return [plan_training(SEED, i, slot, shard(i), steps, least_batch=least_batch) for i in range(clients)]


def shard(client: int) -> np.ndarray:
    return np.arange(client * SAMPLES_EACH, (client + 1) * SAMPLES_EACH)


def small(feature: str = "softmax") -> Network:
    return build_network(SmallCNN(), (1, 8, 8), 10, SEED, feature)


class Residual(nn.Module):
    """No row of layers: only the general way can stack it."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.inner = nn.Linear(features, features)
        self.outer = nn.Linear(features, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.flatten(1)
        return self.outer(x + torch.tanh(self.inner(x)))


def residual(feature: str = "softmax") -> Network:
    torch.manual_seed(0)
    return Network(Residual(64, 10), (1, 8, 8), 10, feature)


def padded_row(feature: str = "logits") -> Network:
    """Padding, strides, no bias, overlapping pools: every branch of the layers written out."""
    torch.manual_seed(0)
    module = nn.Sequential(
        nn.Sequential(nn.Conv2d(1, 4, 3, padding=1, bias=False), nn.ReLU(), nn.MaxPool2d(3, stride=2, padding=1)),
        nn.Conv2d(4, 6, (3, 2), stride=(1, 2), padding=(1, 0)),
        nn.Flatten(),
        nn.ReLU(),
        nn.Linear(48, 10, bias=False),
    )
    return Network(module, (1, 8, 8), 10, feature)


class Given:
    """A model whose network is given."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module

    def build(self, input_shape: tuple[int, ...], classes: int) -> nn.Module:
        return self.module


class DropsTwice(nn.Module):
    """One dropout layer, called at two places with inputs of other shapes."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer, self.drop = nn.Linear(64, 16), nn.Linear(16, 10), nn.Dropout(0.3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.outer(self.drop(torch.relu(self.inner(self.drop(x.flatten(1))))))


def dropping() -> Network:
    """Whole channels, single numbers, and a layer that the chain of fast layers does not have."""
    layers = [nn.Conv2d(1, 4, 3), nn.Dropout2d(0.5), nn.ReLU(), nn.Flatten(), nn.Dropout(0.2), nn.Linear(144, 10)]
    return named(Given(nn.Sequential(*layers)))


def normalised(feature: str = "softmax") -> Network:
    """Batch normalisation of channels and of units, and other normalisations between them."""
    layers = [nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.InstanceNorm2d(4, affine=True, track_running_stats=True)]
    layers += [nn.Flatten(), nn.LayerNorm(144), nn.Linear(144, 8), nn.BatchNorm1d(8, momentum=0.3), nn.Linear(8, 10)]
    return named(Given(nn.Sequential(*layers)), feature=feature)


def named(model: Model, shape: tuple[int, ...] = (1, 8, 8), feature: str = "softmax") -> Network:
    return build_network(model, shape, 10, SEED, feature)
