"""Parts that break their contracts, each in one way, as people write them by mistake."""

# ruff: noqa: ARG001, ARG005

from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
import torch
from torch import nn

from fallow.data.digits import Digits


@dataclass(frozen=True)
class Mean:
    """A rule that adds the mean change; the others differ from it in one way."""

    def init(self, size, data_sizes):
        return None

    def combine(self, state, weights, updates):
        change = sum((item.update.change for item in updates), np.zeros_like(weights))
        return state, weights + change / np.float32(max(1, len(updates)))


@dataclass(frozen=True)
class MeanInPlace(Mean):
    """The same numbers, in the array that it is given."""

    def combine(self, state, weights, updates):
        _, moved = super().combine(state, weights, updates)
        weights[:] = moved
        for item in updates:
            item.update.weights[:] = np.nan
            item.update.start[:] = np.nan
        return state, weights


@dataclass(frozen=True)
class Kept:
    """The memory of a rule that returns it as the model."""

    model: Any


@dataclass(frozen=True)
class MeanInMemory(Mean):
    """The same numbers, in an array of its memory, which it changes in place and returns."""

    def init(self, size, data_sizes):
        data_sizes[:] = 0
        return Kept(np.zeros(size, dtype=np.float32))

    def combine(self, state, weights, updates):
        state.model[:] = super().combine(None, weights, updates)[1]
        return state, state.model


@dataclass(frozen=True)
class MeanByTorch(Mean):
    """The same numbers, written through a tensor that shares the array's memory."""

    def combine(self, state, weights, updates):
        moved = super().combine(state, weights, updates)[1]
        torch.from_numpy(weights).copy_(torch.from_numpy(moved))
        return state, weights


@dataclass(frozen=True)
class Wide:
    """A rule whose answer is what it is told to be."""

    answer: str = "float64"

    def init(self, size, data_sizes):
        return None

    def combine(self, state, weights, updates):
        answers = {
            "float64": weights.astype(np.float64),
            "list": weights.tolist(),
            "short": weights[:-1],
            "nan": weights * np.nan,
            "masked": np.ma.masked_array(weights, weights > 0),
            "tensor": torch.from_numpy(weights),
            "none": None,
        }
        return state, answers[self.answer]


@dataclass(frozen=True)
class Forgetful(Mean):
    def combine(self, state, weights, updates):
        return weights


@dataclass(frozen=True)
class Odd:
    """A staleness weight of any number."""

    factor: float = -1.0

    def discount(self, epochs):
        return float("nan") if self.factor == -2 else self.factor


@dataclass(frozen=True)
class First:
    """Selects the first two; in every slot it writes into the mask that it returned."""

    def init(self, clients):
        return Kept(np.zeros(clients, dtype=np.bool_))

    def select(self, state, view, rng):
        mask = np.arange(view.clients) < 2
        return Kept(mask), mask

    def start(self, state, view):
        state.model[:] = False
        return state, view.ready


@dataclass(frozen=True)
class Masked:
    def init(self, clients):
        return None

    def select(self, state, view, rng):
        return state, np.ma.masked_array(np.ones(view.clients, dtype=np.bool_), mask=True)


@dataclass(frozen=True)
class Greedy:
    k: int = 1

    def init(self, clients):
        return None

    def select(self, state, view, rng):
        return state, np.ones(view.clients, dtype=np.bool_)


@dataclass(frozen=True)
class Remembering:
    """A harvest that draws on and on from one generator."""

    def prepare(self, seed, clients, slots_per_epoch):
        rng = np.random.default_rng(seed)
        return lambda epoch: rng.random((slots_per_epoch, clients)) < 0.5


@dataclass(frozen=True)
class Counting:
    """A harvest that is a function of the epoch, as long as it is prepared once."""

    prepared = count()

    def prepare(self, seed, clients, slots_per_epoch):
        units = next(self.prepared)
        return lambda epoch: np.full((slots_per_epoch, clients), units + epoch)


class Flicker:
    """A signal that hangs on how often it was asked, by anyone."""

    asked = count(1)

    def at(self, time):
        return 0.01 * next(self.asked)


@dataclass(frozen=True)
class Failing:
    def prepare(self, seed, clients, slots_per_epoch):
        def harvest(epoch):
            for slot in range(slots_per_epoch):
                yield [1] * clients if epoch < 2 or slot < 3 else self.broken()

        return harvest

    def broken(self):
        return np.zeros(3) / np.zeros((2, 2))


@dataclass(frozen=True)
class MaskedHarvest:
    def prepare(self, seed, clients, slots_per_epoch):
        return lambda epoch: np.ma.masked_array(np.ones((slots_per_epoch, clients), dtype=int), mask=True)


@dataclass(frozen=True)
class Sorting:
    """A partition that sorts the labels it is given, and then deals them out in order."""

    def split(self, y, sizes, seed):
        y.sort()
        ends = np.cumsum(sizes)
        sizes[:] = 1
        return [np.arange(end - size, end) for end, size in zip(ends, np.diff(ends, prepend=0), strict=True)]


@dataclass(frozen=True)
class InOrder:
    """The same, without the sorting."""

    def split(self, y, sizes, seed):
        ends = np.cumsum(sizes)
        return [np.arange(end - size, end) for end, size in zip(ends, sizes, strict=True)]


@dataclass(frozen=True)
class MaskedParts:
    def split(self, y, sizes, seed):
        return [np.ma.masked_array(np.array([k, 100 + k]), mask=[0, 1]) for k in range(len(sizes))]


def masked_digits(seed):
    digits = Digits().load(seed)
    return replace(digits, y=np.ma.masked_array(digits.y, digits.y > 5))


LOADED: list[int] = []


def shrinking(seed):
    """Data with a memory, in the module."""
    LOADED.append(seed)
    return replace(Digits().load(seed), mean=(0.1 * len(LOADED),))


class Doubles(nn.Module):
    """A layer that works on its input itself."""

    def forward(self, inputs):
        return inputs.mul_(2)


def in_place(input_shape, classes):
    return nn.Sequential(Doubles(), nn.Flatten(), nn.Linear(64, classes))


def clipped_in_place(input_shape, classes):
    return nn.Sequential(nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(64, classes))


def fails_late(input_shape, classes):
    class Picky(nn.Module):
        def forward(self, inputs):
            if len(inputs) == 43:
                raise ValueError("forty-three is too many")
            return inputs

    return nn.Sequential(nn.Flatten(), Picky(), nn.Linear(64, classes))


class Vandal:
    """A tracker that writes into whatever it is given."""

    def begin(self, run):
        run.settings.clear()

    def log(self, rows):
        for row in rows:
            row["energy_total"] = -1
        rows.clear()

    def end(self, summary):
        summary["energy_total"] = -1
        summary["versions"] = None
        for value in summary.values():
            if isinstance(value, dict):
                value.clear()


class Quitter(Vandal):
    """A tracker that ends the whole program."""

    def end(self, summary):
        raise SystemExit(0)
