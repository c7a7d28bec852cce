"""Bernoulli harvest: one unit in a slot with probability p (the paper's model)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.arrays import per_client
from fallow.energy.base import CELLS_AT_ONCE, Harvest, Units
from fallow.energy.outlook import EpochForecast, steady_forecast
from fallow.energy.weather import SharedSky
from fallow.errors import ConfigError
from fallow.rng import Purpose, bernoulli, stream

Probability = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True)
class Bernoulli:
    """One unit a slot with probability p, independent over clients and slots: the paper's model.

    Attributes:
        p: p_bc, the probability of one unit in a slot: one number, or one for each client.

    Examples:
        >>> harvest = Bernoulli(p=(0.0, 1.0)).prepare(seed=0, clients=2, slots_per_epoch=3)
        >>> [slot.tolist() for slot in harvest(0)]
        [[False, True], [False, True], [False, True]]
    """

    p: Annotated[
        Probability | tuple[Probability, ...],
        Field(description="p_bc: probability of one unit in a slot; one number, or one for each client"),
    ] = 0.1

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Harvest:
        """Returns the harvest; draws nothing yet.

        Args:
            seed: The seed of the run.
            clients: N.
            slots_per_epoch: S.

        Raises:
            ConfigError: `p` has not one number for each client.
        """
        p = per_client("energy.p", self.p, clients, np.float64)
        p_drawn = p if isinstance(self.p, tuple) else float(self.p)
        slots_at_once = max(1, CELLS_AT_ONCE // clients)

        def harvest(epoch: int) -> Iterable[Units]:
            rng = stream(seed, Purpose.HARVEST, epoch)
            if slots_per_epoch <= slots_at_once:
                return bernoulli(rng, p_drawn, (slots_per_epoch, clients))
            return in_parts(rng)

        def in_parts(rng: np.random.Generator) -> Iterator[Units]:
            for first in range(0, slots_per_epoch, slots_at_once):
                yield from bernoulli(rng, p_drawn, (min(slots_at_once, slots_per_epoch - first), clients))

        return harvest

    def mean(self, clients: int) -> NDArray[np.float64]:
        """Returns p of each client, shape (N,), float64.

        Args:
            clients: N.
        """
        return per_client("energy.p", self.p, clients, np.float64)

    def with_mean(self, mean: float) -> "Bernoulli":
        """Returns the model with another p; of several, each times the same factor.

        Args:
            mean: Units a slot, at most 1.

        Raises:
            ConfigError: A probability would be above 1.
        """
        p = np.asarray(self.p, dtype=np.float64)
        scaled = np.full_like(p, mean) if p.ndim == 0 else p * (mean / p.mean() if p.any() else np.inf)
        if not (scaled <= 1).all():
            raise ConfigError(
                f"energy.mean = {mean:g} can't be had of one unit a slot with probability {self.p}: it would be "
                "above 1; lower energy.mean, or choose another energy model."
            )
        return replace(self, p=float(scaled) if scaled.ndim == 0 else tuple(scaled.tolist()))

    def under(self, goodness: NDArray[np.float64]) -> Units:
        """Returns whether shared weather brings a unit, shape (rows, 1), or (rows, N) with a p for each client, bool.

        Args:
            goodness: Uniform on [0, 1), shape (rows,), float64.
        """
        brings: NDArray[np.bool_] = goodness[:, None] >= 1 - np.atleast_1d(np.asarray(self.p, dtype=np.float64))
        return brings

    def correlated(self, correlation: float) -> SharedSky:
        """Returns the model with shared weather.

        Args:
            correlation: c, from 0 to 1.
        """
        return SharedSky(self, correlation)

    def prepare_forecast(self, seed: int, clients: int, slots_per_epoch: int) -> EpochForecast:
        """Returns the forecast: the mean. The arguments are those of `Forecasting.prepare_forecast`."""
        p = self.mean(clients)
        return steady_forecast(p, p * (1 - p), clients, slots_per_epoch)
