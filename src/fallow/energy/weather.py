"""Weather that clients share: in each slot a client takes the shared draw with probability √c, else its own."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import sqrt
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fallow.energy.base import CELLS_AT_ONCE, EnergyModel, Harvest, Units
from fallow.energy.outlook import EpochForecast
from fallow.rng import Purpose, bernoulli, stream

GOODNESS, AMOUNT, CHANGE = range(3)
"""Columns of `shared_draws`: how good the weather is (the harvest, or the state that a spell begins with), what falls
in a slot beyond that, and whether a spell may end."""


@runtime_checkable
class Weathered(Protocol):
    """A model with shared weather, which can share it with others too."""

    def with_weather(self, seed: int) -> EnergyModel:
        """Returns the model with its shared draws from the streams of another seed; its own draws stay.

        Args:
            seed: Whose weather it is: groups with the same one have the same weather.
        """
        ...


class Memoryless(Protocol):
    """A model whose slots are independent, so that a slot follows from one uniform number."""

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Harvest:
        """Returns the harvest; see `EnergyModel.prepare`."""
        ...

    def mean(self, clients: int) -> NDArray[np.float64]:
        """Returns the mean of each client; see `Averaged.mean`."""
        ...

    def prepare_forecast(self, seed: int, clients: int, slots_per_epoch: int) -> EpochForecast:
        """Returns the forecast; see `Forecasting.prepare_forecast`."""
        ...

    def under(self, goodness: NDArray[np.float64]) -> Units:
        """Returns the units that given weather brings, shape (rows, 1), or (rows, N) where clients differ.

        Args:
            goodness: Uniform on [0, 1), shape (rows,), float64. The more, the more units.
        """
        ...


@dataclass(frozen=True)
class SharedSky:
    """A model without memory whose clients share their weather. What each client harvests has the same law as before.

    Attributes:
        of: The model.
        correlation: c, from 0 to 1: the correlation of the harvests of two clients in a slot.
        weather: The seed of the shared draws; None is that of the run.

    Examples:
        >>> from fallow.energy import Bernoulli
        >>> harvest = SharedSky(Bernoulli(p=0.5), correlation=1.0).prepare(seed=0, clients=3, slots_per_epoch=4)
        >>> [len(set(slot.tolist())) for slot in harvest(0)]
        [1, 1, 1, 1]
    """

    of: Memoryless
    correlation: float
    weather: int | None = None

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Harvest:
        """Returns the harvest. The arguments are those of `EnergyModel.prepare`."""
        own, of = self.of.prepare(seed, clients, slots_per_epoch), self.of
        weather, share = seed if self.weather is None else self.weather, sqrt(self.correlation)

        def harvest(epoch: int) -> Iterable[Units]:
            goodness = shared_draws(weather, epoch, slots_per_epoch)[:, GOODNESS]
            takes, units = stream(seed, Purpose.SHARING, epoch), own(epoch)
            if isinstance(units, np.ndarray):
                return np.where(bernoulli(takes, share, units.shape), of.under(goodness), units)
            return in_rows(takes, goodness, units)

        def in_rows(
            takes: np.random.Generator, goodness: NDArray[np.float64], rows: Iterable[Units]
        ) -> Iterator[Units]:
            for slot, units in enumerate(rows):
                shared = of.under(goodness[slot : slot + 1])
                yield np.where(bernoulli(takes, share, (1, clients)), shared, units)[0]

        return harvest

    def mean(self, clients: int) -> NDArray[np.float64]:
        """Returns the mean of each client, the same as without shared weather, shape (N,), float64.

        Args:
            clients: N.
        """
        return self.of.mean(clients)

    def prepare_forecast(self, seed: int, clients: int, slots_per_epoch: int) -> EpochForecast:
        """Returns the forecast, the same as without shared weather."""
        return self.of.prepare_forecast(seed, clients, slots_per_epoch)

    def with_weather(self, seed: int) -> "SharedSky":
        """Returns the model under the weather of a seed."""
        return replace(self, weather=seed)


def shared_draws(seed: int, epoch: int, slots: int) -> NDArray[np.float64]:
    """Returns the weather of an epoch: uniform numbers that all clients share, shape (S, 3), float64.

    Args:
        seed: Whose weather it is.
        epoch: t.
        slots: S.
    """
    return stream(seed, Purpose.WEATHER, epoch).random((slots, 3))


def parts(slots: int, clients: int) -> Iterator[tuple[int, int]]:
    """Yields (first slot, slots) of the parts in which an epoch is drawn, so that memory stays in bounds.

    Args:
        slots: S.
        clients: N.

    Examples:
        >>> list(parts(slots=30, clients=100))
        [(0, 30)]
        >>> list(parts(slots=5, clients=CELLS_AT_ONCE // 2))
        [(0, 2), (2, 2), (4, 1)]
    """
    at_once = max(1, CELLS_AT_ONCE // clients)
    for first in range(0, slots, at_once):
        yield first, min(at_once, slots - first)
