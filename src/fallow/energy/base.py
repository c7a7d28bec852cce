"""What an energy model is: the units that each client harvests in each slot of an epoch."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fallow.errors import EnergyError

MOST_UNITS = 10**9
"""In a slot."""

Units = NDArray[Any]
"""Units harvested in one slot, shape (N,); whole numbers (any integer type) or bool, never negative."""

Harvest = Callable[[int], Iterable[Units]]
"""From an epoch to its S slots: an array of shape (S, N), or an iterator of S rows."""


class EnergyModel(Protocol):
    """Where the energy comes from. A frozen dataclass whose fields are its options."""

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Harvest:
        """Reads and checks what the model needs, before anything runs, and returns the harvest.

        The harvest is a function of the epoch alone: asked twice, it answers the same.
        """
        ...


def checked_units(units: Units, clients: int) -> NDArray[np.int32]:
    """Returns what a model gave for a slot, as a new array of shape (N,); what can't be harvested is an error."""
    units = np.asarray(units)
    if units.shape != (clients,) or units.dtype.kind not in "bui":
        raise EnergyError(
            f"The energy model gave an array of shape {units.shape} and type {units.dtype} for a slot; it must give "
            f"whole numbers of shape {(clients,)}."
        )
    if units.dtype.kind == "i" and units.min() < 0:
        raise EnergyError(f"The energy model gave {units.min()} units; harvested units are 0 or more.")
    if units.dtype.itemsize > 2 and units.max() > MOST_UNITS:
        raise EnergyError(f"The energy model gave {units.max()} units for a slot; it may give {MOST_UNITS} at most.")
    return units.astype(np.int32)
