"""Poisson harvest: packets of energy arrive at random, several in a slot or none (compound Poisson)."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.energy.base import CELLS_AT_ONCE, MOST_UNITS, Harvest, Units
from fallow.energy.outlook import EpochForecast, steady_forecast
from fallow.energy.weather import SharedSky, parts
from fallow.errors import ConfigError
from fallow.rng import Purpose, stream


@dataclass(frozen=True)
class Poisson:
    """Packets of whole units; how many arrive in a slot is Poisson, independent over clients and slots.

    The mean is rate · packet units a slot, the variance rate · packet².

    Attributes:
        rate: Mean packets a slot.
        packet: Units of a packet.

    Examples:
        >>> harvest = Poisson(rate=2.0, packet=5).prepare(seed=0, clients=4, slots_per_epoch=2)
        >>> sorted({int(units) % 5 for slot in harvest(0) for units in slot})
        [0]
    """

    rate: Annotated[float, Field(ge=0, le=MOST_UNITS, description="mean packets a slot, which come at random")] = 0.1
    packet: Annotated[int, Field(ge=1, le=MOST_UNITS, description="units of a packet")] = 1

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Harvest:
        """Returns the harvest; draws nothing yet. The arguments are those of `EnergyModel.prepare`.

        Raises:
            ConfigError: So many units can come in a slot that it may not hold them.
        """
        units_of = self._quantile()

        def harvest(epoch: int) -> Iterable[Units]:
            rng = stream(seed, Purpose.HARVEST, epoch)
            if slots_per_epoch * clients <= CELLS_AT_ONCE:
                return units_of(rng.random((slots_per_epoch, clients)))
            return in_parts(rng)

        def in_parts(rng: np.random.Generator) -> Iterator[Units]:
            for _, rows in parts(slots_per_epoch, clients):
                yield from units_of(rng.random((rows, clients)))

        return harvest

    def under(self, goodness: NDArray[np.float64]) -> Units:
        """Returns the units that shared weather brings, shape (rows, 1), int32.

        Args:
            goodness: Uniform on [0, 1), shape (rows,), float64.
        """
        return self._quantile()(goodness[:, None])

    def mean(self, clients: int) -> NDArray[np.float64]:
        """Returns rate · packet for each client, shape (N,), float64.

        Args:
            clients: N.
        """
        return np.broadcast_to(np.float64(self.rate * self.packet), clients)

    def with_mean(self, mean: float) -> "Poisson":
        """Returns the model with another rate, and packets as they are.

        Args:
            mean: Units a slot.
        """
        return replace(self, rate=mean / self.packet)

    def correlated(self, correlation: float) -> SharedSky:
        """Returns the model with shared weather.

        Args:
            correlation: c, from 0 to 1.
        """
        return SharedSky(self, correlation)

    def prepare_forecast(self, seed: int, clients: int, slots_per_epoch: int) -> EpochForecast:
        """Returns the forecast: the mean. The arguments are those of `Forecasting.prepare_forecast`."""
        mean = self.rate * self.packet
        return steady_forecast(mean, mean * self.packet, clients, slots_per_epoch)

    def _quantile(self) -> Callable[[NDArray[np.float64]], NDArray[np.int32]]:
        """Returns the function from uniform numbers to units, of the same shape, int32."""
        law = PoissonLaw.of(self.rate)
        most = law.most * self.packet
        if most > MOST_UNITS:
            raise ConfigError(
                f"energy.rate = {self.rate:g} packets of energy.packet = {self.packet} units may bring {most} units in "
                f"a slot, and {MOST_UNITS} are the most; choose a larger unit."
            )
        return lambda uniform: law.quantile(uniform) * np.int32(self.packet)


CELLS = 2**16
"""Parts of [0, 1) for which the number that follows is looked up, where it is the same for the whole part."""


class PoissonLaw(NamedTuple):
    """The law of a Poisson number, ready to turn uniform numbers into such.

    Attributes:
        least: The least value with a weight that a double can tell from none.
        below: P(number ≤ least, least + 1, …), shape (values,), float64; the last one is 1.
        known: The value for each part of [0, 1), shape (CELLS,), int32; −1 where a part has several.
    """

    least: int
    below: NDArray[np.float64]
    known: NDArray[np.int32]

    @classmethod
    @lru_cache(maxsize=64)
    def of(cls, rate: float) -> "PoissonLaw":
        """Returns the law with a mean.

        Args:
            rate: The mean.
        """
        least, below = cumulative(rate)
        edges = np.arange(CELLS + 1) / CELLS
        first, last = below.searchsorted(edges[:-1], side="right"), below.searchsorted(edges[1:], side="left")
        return cls(least, below, np.where(first == last, least + first, -1).astype(np.int32))

    @property
    def most(self) -> int:
        """The largest value."""
        return self.least + self.below.size - 1

    def quantile(self, uniform: NDArray[np.float64]) -> NDArray[np.int32]:
        """Returns the Poisson numbers for uniform ones, of the same shape, int32.

        Args:
            uniform: From 0 to below 1, of any shape, float64.

        Examples:
            >>> PoissonLaw.of(0.5).quantile(np.array([0.0, 0.6065, 0.6066, 0.95])).tolist()
            [0, 0, 1, 2]
        """
        numbers = self.known.take((uniform * CELLS).astype(np.intp))
        several = (numbers.reshape(-1) < 0).nonzero()[0]
        found = self.below.searchsorted(uniform.reshape(-1)[several], side="right")
        numbers.reshape(-1)[several] = self.least + found
        return numbers


def cumulative(rate: float) -> tuple[int, NDArray[np.float64]]:
    """Returns the law of a Poisson number: the least value with a weight, and P(number ≤ least, least + 1, …).

    Values beyond nine deviations have less weight than a double can tell from none, and are left out.

    Args:
        rate: The mean.

    Returns:
        The least value, and the probabilities, shape (values,), float64; the last one is 1.

    Examples:
        >>> least, below = cumulative(0.5)
        >>> least, below[:2].round(6).tolist()
        (0, [0.606531, 0.909796])
    """
    spread = 9 * np.sqrt(rate)
    least, most = max(0, int(rate - spread)), int(rate + spread) + 20
    with np.errstate(divide="ignore"):  # a rate of 0 has the logarithm −∞, and e to that is 0
        steps = np.log(rate) - np.log(np.arange(least + 1, most + 1))
    logarithm = np.concatenate([[0.0], np.cumsum(steps)])
    weight = np.exp(logarithm - logarithm.max())
    below = np.minimum(np.cumsum(weight / weight.sum()), 1.0)
    below[-1] = 1.0
    return least, below
