"""What ``learning.py`` and ``simulators.py`` train: data, cohorts, first weights and the order of the batches."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import cross_entropy

from fallow.data.sizes import draw_sizes
from fallow.learning.network import Network, build_network
from fallow.learning.options import Precision
from fallow.learning.training import Training, plan_training
from fallow.models import Model, PaperCNN, SmallCNN

SEED, CLASSES = 1, 10
MEAN, STD = 0.5, 0.25


@dataclass(frozen=True)
class Workload:
    """What a round of training is.

    The learning rates are small: on random pixels larger ones make the paper's network chaotic, and then float32
    parts from float64 by percents within a training, whoever computes it.
    """

    title: str
    model: Model
    shape: tuple[int, int, int]
    clients: int
    samples_each: int
    steps: int
    clients_a_round: int
    lr: float
    spread: float = 0.0

    def data(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Random pixels and labels: the arithmetic is that of any other data."""
        rng = np.random.default_rng(0)
        total = self.clients * self.samples_each
        images = rng.integers(0, 256, (total, *self.shape), dtype=np.uint8)
        return images, rng.integers(0, CLASSES, total)

    def tensors(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The images, normalised, and their labels: what a loop of PyTorch is given."""
        raw, labels = self.data()
        images = torch.from_numpy(raw).float()
        return images.div_(255).sub_(MEAN).div_(STD), torch.from_numpy(labels)  # in place: no peak of memory

    def network(self, precision: Precision = "fp32") -> Network:
        """The network with its first weights."""
        return build_network(self.model, self.shape, CLASSES, SEED, precision=precision)

    def trainings(self, number: int) -> list[Training]:
        """The cohort of one round."""
        chosen = np.random.default_rng(number).permutation(self.clients)[: self.clients_a_round]
        shards = self.shards()
        return [plan_training(SEED, client, number, shards[client], self.steps) for client in chosen.tolist()]

    def shards(self) -> list[NDArray[np.int64]]:
        """The samples of each client: as many for all, or more and fewer with the same mean."""
        sizes = draw_sizes("lognormal", self.clients, self.samples_each, SEED, self.spread)
        return np.split(np.arange(sizes.sum()), np.cumsum(sizes)[:-1])


@dataclass(frozen=True)
class PaddedCNN:
    """The small network with padding: 8 and 16 channels on all of the 8×8 pixels, four times the arithmetic."""

    def build(self, input_shape: tuple[int, ...], classes: int) -> nn.Module:
        """Returns the network."""
        channels, height, width = input_shape
        features = [nn.Conv2d(channels, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU()]
        units = 16 * (height // 2) * (width // 2)
        classifier = [nn.MaxPool2d(2), nn.Flatten(), nn.Linear(units, 32), nn.ReLU(), nn.Linear(32, classes)]
        return nn.Sequential(*features, *classifier)


WORKLOADS = {
    "a": Workload("A: the paper's network, 10 of 100 clients", PaperCNN(), (3, 32, 32), 100, 300, 20, 10, 3e-5),
    "b": Workload("B: small-cnn on 8×8 pixels, 100 of 1,000 clients", SmallCNN(), (1, 8, 8), 1000, 40, 4, 100, 0.01),
    "p": Workload("P: as B, with padding", PaddedCNN(), (1, 8, 8), 1000, 40, 4, 100, 0.01),
    "c": Workload("C: as B, with 40 samples on average (σ = 1)", SmallCNN(), (1, 8, 8), 1000, 40, 4, 100, 0.01, 1.0),
}


def warm_up(module: nn.Module, images: torch.Tensor, targets: torch.Tensor) -> None:
    """Trains nothing, thrice, so that no side's first round pays for what is made once."""
    for _ in range(3):
        cross_entropy(module(images[:15]), targets[:15]).backward()
    module.zero_grad()
