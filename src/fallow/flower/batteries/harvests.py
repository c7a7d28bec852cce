"""The harvest of all clients of an energy model, which emulated batteries in one process share."""

import numpy as np
from numpy.typing import NDArray

from fallow.energy import EnergyModel, unit_rows
from fallow.simulation.forecast import Forecast

EPOCHS_KEPT = 3
"""Epochs whose harvest is kept: the one that is lived through, the one that is looked into, and the one before."""


class SharedHarvest:
    """The harvest of all clients of an energy model, drawn once for however many batteries ask in turn.

    A node alone in its process draws for all N clients too: what a seed gives is a stream over all of them, and a draw
    for one client alone would change the bytes of every run. It takes 0.04 ms an epoch of 30 slots for 1,000 clients.

    Attributes:
        energy: The energy model.
        seed: Of the harvest.
        clients: N, for the model.
        slots_per_epoch: S.
    """

    def __init__(self, energy: EnergyModel, seed: int, clients: int, slots_per_epoch: int) -> None:
        self.energy, self.seed, self.clients, self.slots_per_epoch = energy, seed, clients, slots_per_epoch
        self._harvest = energy.prepare(seed, clients, slots_per_epoch)
        self._rows: dict[int, NDArray[np.int32]] = {}
        self._forecast: tuple[tuple[int, int, float, int], NDArray[np.float64]] | None = None

    def __call__(self, epoch: int) -> NDArray[np.int32]:
        """Returns the units of an epoch, shape (S, N), int32, read-only.

        Args:
            epoch: t.
        """
        if epoch not in self._rows:
            rows = np.concatenate(list(unit_rows(self._harvest(epoch), self.clients, self.slots_per_epoch)))
            rows.flags.writeable = False
            self._rows = {**dict(list(self._rows.items())[1 - EPOCHS_KEPT :]), epoch: rows}
        return self._rows[epoch]

    def forecast(self, epoch: int, epochs: int, error: float, passed: int) -> NDArray[np.float64]:
        """Returns the forecast for all clients, shape (N, H), float64; it may not be changed.

        Args:
            epoch: t.
            epochs: H, for how many epochs, this one included.
            error: Its relative error.
            passed: How many slots of the epoch have passed.
        """
        asked = (epoch, epochs, error, passed)
        if self._forecast is None or self._forecast[0] != asked:
            every = Forecast(self._harvest, self.seed, self.clients, self.slots_per_epoch, epochs, error)
            self._forecast = (asked, every.at(epoch, passed))
        return self._forecast[1]
