"""What users bring: policies, networks, data and harvests of their own, in the shapes that people really write."""

# ruff: noqa: ARG001, ARG005

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from torch import nn

from fallow.data.digits import Digits
from fallow.data.from_arrays import dataset_from_arrays

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


def convolved(input_shape, classes) -> nn.Module:
    """A small network for signals."""
    channels, length = input_shape
    return nn.Sequential(
        nn.Conv1d(channels, 8, 5), nn.ReLU(), nn.MaxPool1d(4), nn.Flatten(), nn.Linear(8 * ((length - 4) // 4), classes)
    )


def perceptron(input_shape, classes) -> nn.Module:
    """A small network for anything."""
    return nn.Sequential(nn.Flatten(), nn.Linear(prod(input_shape), 16), nn.ReLU(), nn.Linear(16, classes))


def points(seed: int) -> Dataset:
    """Vectors of five features, of which two tell the class; client k has k + 1 of every 15."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 600)
    x = rng.normal(size=(600, 5)) + 3 * np.eye(5)[y]
    client = np.repeat(np.arange(5), np.arange(1, 6))[np.arange(500) % 15]
    return dataset_from_arrays("points", x[:500], y[:500], x[500:], y[500:], client=client)


def mixed(seed: int, alpha: float = 5.0) -> Dataset:
    """Shares the name of an option with the Dirichlet partition."""
    return Digits().load(seed)


def owned(seed: int, clients: int = 12) -> Dataset:
    """Digits whose owners are known: client k has k + 1 shares of them."""
    digits = Digits().load(seed)
    shares = np.repeat(np.arange(clients), np.arange(1, clients + 1))
    return replace(digits, client=shares[np.arange(len(digits.y)) % len(shares)])


@dataclass(frozen=True)
class Lists:
    """Gives Python's lists where arrays are asked for."""

    units: int = 1

    def prepare(self, seed, clients, slots_per_epoch):
        return lambda epoch: [[self.units] * clients for _ in range(slots_per_epoch)]


@dataclass(frozen=True)
class Uneven:
    """A partition that follows no sizes but its own, in lists."""

    def split(self, y, sizes, seed):
        return [list(range(k * (k + 1) // 2, (k + 1) * (k + 2) // 2)) for k in range(len(sizes))]


@dataclass(frozen=True)
class Shared:
    """A partition that gives samples to two clients."""

    def split(self, y, sizes, seed):
        return [np.arange(client + 1) for client in range(len(sizes))]


@dataclass(frozen=True)
class Beyond:
    """A partition that names samples that are not there."""

    def split(self, y, sizes, seed):
        return np.full((len(sizes), 2), len(y))


@dataclass(frozen=True)
class Empty:
    """A partition that leaves a client with nothing."""

    def split(self, y, sizes, seed):
        return [np.arange(3), np.array([]), *(np.array([3 + k]) for k in range(len(sizes) - 2))]


@dataclass(frozen=True)
class Short:
    """A partition that forgets a client."""

    def split(self, y, sizes, seed):
        return [np.array([k]) for k in range(len(sizes) - 1)]


@dataclass(frozen=True)
class Nothing:
    """A partition that forgets to return."""

    def split(self, y, sizes, seed):
        return None


@dataclass(frozen=True)
class Fractions:
    """A partition whose indices are no whole numbers."""

    def split(self, y, sizes, seed):
        return [np.array([k + 0.5]) for k in range(len(sizes))]
