"""What an energy model is: the units that each client harvests in each slot of an epoch."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fallow.energy.scale import Scale
from fallow.errors import EnergyError
from fallow.plugins.returned import plain_array

MOST_UNITS = 10**9
"""Most units that a client can harvest in a slot."""

CELLS_AT_ONCE = 2**20
"""Client-slots handled at once: enough to spread the cost of a call, few enough to stay in the cache.

`Bernoulli` depends on it: with another number, the same seed gives another harvest.
"""

Units = NDArray[Any]
"""Units harvested in one slot, shape (N,); whole numbers (any integer type) or bool, never negative."""

Harvest = Callable[[int], Iterable[Units]]
"""Returns the S slots of an epoch: an array of shape (S, N), or an iterator of S rows of shape (N,)."""


class EnergyModel(Protocol):
    """Where the energy comes from. A frozen dataclass whose fields are its options."""

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Harvest:
        """Returns the harvest, after the model has read and checked what it needs.

        The harvest is a function of the epoch alone: the same epoch always gives the same units.

        Args:
            seed: The seed of the run.
            clients: N.
            slots_per_epoch: S.
        """
        ...


@runtime_checkable
class Scaled(Protocol):
    """A source of watts: it needs the length of a slot and the joules of a unit."""

    def at_scale(self, scale: Scale) -> EnergyModel:
        """Returns the same source as a model in units.

        Args:
            scale: Of the run.

        Raises:
            ConfigError: Slot or unit are not stated.
        """
        ...


@runtime_checkable
class Rescaled(Protocol):
    """A model that can be had with another mean."""

    def with_mean(self, mean: float) -> EnergyModel:
        """Returns the model with another mean harvest, otherwise as it is.

        Args:
            mean: Units a slot, over all clients and the whole time.

        Raises:
            ConfigError: The model can't have this mean.
        """
        ...


@runtime_checkable
class Correlated(Protocol):
    """A model whose clients can share their weather."""

    def correlated(self, correlation: float) -> EnergyModel:
        """Returns the model with shared weather; what a single client harvests has the same law as before.

        In each slot each client takes a shared draw with some probability, and its own otherwise, such that what two
        clients meet in a slot has the correlation c: their harvests, or the states behind them in a model with memory.

        Args:
            correlation: c, from 0 to 1.
        """
        ...


@runtime_checkable
class Averaged(Protocol):
    """A model that knows its mean."""

    def mean(self, clients: int) -> NDArray[np.float64]:
        """Returns the mean units a slot of each client, shape (N,), float64.

        Args:
            clients: N.
        """
        ...


@runtime_checkable
class Described(Protocol):
    """A model that reads something, and can say what it found there before a run begins."""

    def describe(self) -> object:
        """Returns what was found; its text is a line for the user.

        Raises:
            FallowError: What it reads can't be used.
        """
        ...


def unit_rows(
    harvest: Iterable[Units], clients: int, slots: int, most: int | None = None
) -> Iterator[NDArray[np.int32]]:
    """Yields the slots of an epoch, some at a time, as new arrays of shape (rows, N), int32.

    Args:
        harvest: The units of an epoch, as an energy model returned them. An array is read many slots at a time.
        clients: N.
        slots: S.
        most: Most slots at a time; None chooses a number that is fast.

    Raises:
        EnergyError: The units have a wrong shape or type, or are negative or too many.

    Examples:
        >>> harvest = np.array([[0, 1], [2, 0], [1, 1]])
        >>> [rows.tolist() for rows in unit_rows(harvest, clients=2, slots=3, most=2)]
        [[[0, 1], [2, 0]], [[1, 1]]]
    """
    if isinstance(harvest, np.ma.MaskedArray) or not isinstance(harvest, np.ndarray):
        for units in harvest:
            yield checked_units(plain_array("What the energy model gave for a slot", units, EnergyError)[None], clients)
        return
    if len(harvest) != slots:
        raise EnergyError(f"The energy model gave {len(harvest)} slots for an epoch of {slots}.")
    rows = most or max(1, CELLS_AT_ONCE // clients)
    for first in range(0, slots, rows):
        yield checked_units(harvest[first : first + rows], clients)


def checked_units(units: Units, clients: int) -> NDArray[np.int32]:
    """Returns the units of some slots, checked, as a new array of shape (rows, N), int32.

    Args:
        units: The units, as an energy model returned them, shape (rows, N), whole numbers or bool.
        clients: N.

    Raises:
        EnergyError: The units have a wrong shape or type, or are negative or too many.
    """
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
