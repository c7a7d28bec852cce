"""What users bring: policies, networks, data and harvests of their own, in the shapes that people really write."""

# ruff: noqa: ARG001, ARG005

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from torch import nn

from fallow.data.digits import Digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fallow.data import Dataset


@dataclass(frozen=True)
class Few:
    """Has a default of its own where the config has another."""

    k: int = 3

    def init(self, clients):
        return None

    def select(self, state, view, rng):
        return state, np.arange(view.clients) < self.k


@dataclass(frozen=True)
class Picky(Few):
    """Checks its options itself."""

    k: int = 2

    def __post_init__(self):
        if self.k % 2:
            raise ValueError("k is odd")


@dataclass(frozen=True)
class Meddler(Few):
    """Writes into what it is shown."""

    def select(self, state, view, rng):
        view.distance[:] = 0
        return super().select(state, view, rng)


def optional(input_shape: Sequence[int], classes: int, hidden: int | None = None) -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(64, hidden or 8), nn.ReLU(), nn.Linear(hidden or 8, classes))


def listed(input_shape, classes, hidden: list[int] = [8]) -> nn.Module:  # noqa: B006  # as people write it
    return nn.Sequential(nn.Flatten(), nn.Linear(64, hidden[0]), nn.ReLU(), nn.Linear(hidden[0], classes))


def unwritable(input_shape, classes, activation=nn.ReLU) -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 8), activation(), nn.Linear(8, classes))


def rows_first(input_shape, classes) -> nn.Module:
    """A linear layer on the rows of an image, before it is flattened."""
    return nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Flatten(), nn.Linear(32, classes))


def mixed(seed: int, alpha: float = 5.0) -> Dataset:
    """Shares the name of an option with the Dirichlet partition."""
    return Digits().load(seed)


@dataclass(frozen=True)
class Lists:
    """Gives Python's lists where arrays are asked for."""

    units: int = 1

    def prepare(self, seed, clients, slots_per_epoch):
        return lambda epoch: [[self.units] * clients for _ in range(slots_per_epoch)]


@dataclass(frozen=True)
class Uneven:
    """A partition that gives each client another number of samples."""

    def split(self, y, clients, samples, seed):
        return [np.arange(client + 1) for client in range(clients)]


@dataclass(frozen=True)
class Beyond:
    """A partition that names samples that are not there."""

    def split(self, y, clients, samples, seed):
        return np.full((clients, samples), len(y))
