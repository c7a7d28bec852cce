"""What an energy model is: the units that each client harvests in each slot of an epoch."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fallow.errors import EnergyError

MOST_UNITS = 10**9
"""In a slot."""

CELLS_AT_ONCE = 2**20
"""Client-slots handled in one go: enough to spread the cost of a call, few enough to stay in the cache.

Part of what a seed means for `Bernoulli`: another number gives another harvest.
"""

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


def unit_rows(
    harvest: Iterable[Units], clients: int, slots: int, most: int | None = None
) -> Iterator[NDArray[np.int32]]:
    """Yields the slots of an epoch, some at a time, as new arrays of shape (rows, N); what can't be is an error.

    Args:
        harvest: What a model gave for an epoch. An array is taken, and checked, many slots at a time.
        clients: N.
        slots: S.
        most: Most slots at a time; None: as many as are handled well at once.
    """
    if not isinstance(harvest, np.ndarray):
        for units in harvest:
            yield checked_units(np.asarray(units)[None], clients)
        return
    if len(harvest) != slots:
        raise EnergyError(f"The energy model gave {len(harvest)} slots for an epoch of {slots}.")
    rows = most or max(1, CELLS_AT_ONCE // clients)
    for first in range(0, slots, rows):
        yield checked_units(harvest[first : first + rows], clients)


def checked_units(units: Units, clients: int) -> NDArray[np.int32]:
    """Returns what a model gave for some slots, as a new array of shape (rows, N); what can't be is an error."""
    if units.shape[1:] != (clients,) or units.dtype.kind not in "bui":
        raise EnergyError(
            f"The energy model gave an array of shape {units.shape[1:]} and type {units.dtype} for a slot; it must "
            f"give whole numbers of shape {(clients,)}."
        )
    if units.dtype.kind == "i" and units.min() < 0:
        raise EnergyError(f"The energy model gave {units.min()} units; harvested units are 0 or more.")
    if units.dtype.itemsize > 2 and units.max() > MOST_UNITS:
        raise EnergyError(f"The energy model gave {units.max()} units for a slot; it may give {MOST_UNITS} at most.")
    return units.astype(np.int32)
