"""A forecast of each client's harvest, with a stated error; without error it knows the future."""

import numpy as np
from numpy.typing import NDArray

from fallow.energy import Harvest, unit_rows
from fallow.rng import Purpose, stream


class Forecast:
    """What clients will harvest in the next epochs, as well as a forecast knows it.

    A forecast is the true number of units, times exp(σz − σ²/2) with z normal: right in the mean, wrong by about σ of
    itself. Each epoch draws its errors afresh.

    Attributes:
        epochs: H, for how many epochs it looks ahead, this one included.
        error: σ; 0 knows the future.
    """

    def __init__(
        self, harvest: Harvest, seed: int, clients: int, slots_per_epoch: int, epochs: int, error: float
    ) -> None:
        self.epochs, self.error = epochs, error
        self._harvest, self._seed, self._clients, self._slots = harvest, seed, clients, slots_per_epoch
        self._sums: dict[int, NDArray[np.int64]] = {}

    def at(self, epoch: int, passed: int = 1) -> NDArray[np.float64]:
        """Returns the units expected in the rest of an epoch and in those that follow, shape (N, H), float64.

        Args:
            epoch: t.
            passed: How many of its slots have passed: the first one, where a policy selects.
        """
        self._sums = {later: units for later, units in self._sums.items() if later > epoch}
        true = [self._units(epoch, first=passed)]
        for later in range(epoch + 1, epoch + self.epochs):
            if later not in self._sums:
                self._sums[later] = self._units(later, first=0)
            true.append(self._sums[later])
        units = np.stack(true, axis=1).astype(np.float64)
        if self.error:
            z = stream(self._seed, Purpose.FORECAST, epoch).standard_normal(units.shape)
            units *= np.exp(self.error * z - self.error**2 / 2)
        return units

    def _units(self, epoch: int, first: int) -> NDArray[np.int64]:
        """Returns what each client harvests in an epoch from a slot on, shape (N,), int64."""
        rows = np.concatenate(list(unit_rows(self._harvest(epoch), self._clients, self._slots)))
        total: NDArray[np.int64] = rows[first:].sum(axis=0, dtype=np.int64)
        return total
