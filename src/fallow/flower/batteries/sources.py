"""Where metered batteries draw from: a meter, or an energy model by the clock."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fallow.flower.batteries.base import BatteryError
from fallow.flower.batteries.emulated import Emulated


@dataclass(frozen=True)
class MeteredState:
    """What a metered battery keeps over a restart.

    Attributes:
        lived: The last epoch that it lived through; −1 before the first.
        unsent: Whether an update waits for energy.
        units: Stored, where an energy model fills the battery; a real one knows its level.
        slots: Slots whose harvest it has had, where an energy model fills it.
        began: When its first slot began, in seconds since 1970, where an energy model fills it.
        harvested: Units harvested in these slots, before the cap.
    """

    lived: int = -1
    unsent: bool = False
    units: int = 0
    slots: int = 0
    began: float = 0.0
    harvested: int = 0


class Source(Protocol):
    """What an open metered battery draws from."""

    def level(self) -> int:
        """Returns the units stored now."""
        ...

    def spend(self, units: int) -> None:
        """Takes units out.

        Args:
            units: At most what is stored.
        """
        ...

    def kept_in(self, state: MeteredState) -> MeteredState:
        """Returns a state with what the source itself must keep over a restart.

        Args:
            state: What the battery keeps.
        """
        ...

    def mean_harvest(self) -> float:
        """Returns the units harvested a slot so far; NaN if it does not know."""
        ...

    def forecast(self, epoch: int, epochs: int, error: float) -> NDArray[np.float64]:
        """Returns the units expected, shape (H,), float64. The arguments are those of `HarvestMeter.forecast`."""
        ...


class Meter:
    """A real battery, which spends by itself. Its methods are those of `Source`."""

    def __init__(self, read: Callable[[], float], foresee: Callable[[int], Sequence[float]] | None) -> None:
        self._read, self._foresee = read, foresee

    def level(self) -> int:
        """Returns what the meter says."""
        level = self._read()
        if not 0 <= level < 2**31:
            raise BatteryError(f"The battery's level is {level}; it must be 0 or more.")
        return int(level)

    def spend(self, units: int) -> None:
        """Does nothing: the device has paid."""

    def kept_in(self, state: MeteredState) -> MeteredState:
        """Returns the state as it is: the battery knows its level."""
        return state

    def mean_harvest(self) -> float:
        """Returns NaN: of a level that goes up and down nobody can tell what was harvested."""
        return float("nan")

    def forecast(self, epoch: int, epochs: int, error: float) -> NDArray[np.float64]:
        """Returns the forecast that the owner gave, whose error is its own; NaN without one."""
        if self._foresee is None:
            return np.full(epochs, np.nan)
        units = np.asarray(self._foresee(epochs), dtype=np.float64)
        if units.shape != (epochs,) or not ((units >= 0) & (units < np.inf)).all():
            raise BatteryError(
                f"The battery's forecast for {epochs} epochs is {units.tolist()}; it must be {epochs} finite numbers, "
                "0 or more."
            )
        return units


class Panel:
    """A battery that an energy model fills by the clock of this machine. Its methods are those of `Source`."""

    def __init__(self, emulated: Emulated, slot_seconds: float, kept: MeteredState) -> None:
        self._emulated, self._slot_seconds = emulated, slot_seconds
        self._harvest = emulated.harvest
        self._units, self._slots, self._began, self._harvested = kept.units, kept.slots, kept.began, kept.harvested

    def level(self) -> int:
        """Returns the units stored, after the harvest of all slots that have passed."""
        due = int((time.time() - self._began) / self._slot_seconds)
        while self._slots < due:
            epoch, done = divmod(self._slots, self._emulated.slots_per_epoch)
            for units in list(self._harvest(epoch))[done : done + due - self._slots]:
                self._units = min(self._units + int(units[0]), self._emulated.capacity)
                self._harvested += int(units[0])
                self._slots += 1
        return self._units

    def spend(self, units: int) -> None:
        """Takes units out."""
        if units > self._units:
            raise BatteryError(f"{units} units were to be spent and {self._units} are there: a bug in Fallow.")
        self._units -= units

    def kept_in(self, state: MeteredState) -> MeteredState:
        """Returns the state with what is stored, was harvested, and since when."""
        return replace(state, units=self._units, slots=self._slots, began=self._began, harvested=self._harvested)

    def mean_harvest(self) -> float:
        """Returns the units harvested a slot of the clock so far."""
        return self._harvested / max(1, self._slots)

    def forecast(self, epoch: int, epochs: int, error: float) -> NDArray[np.float64]:
        """Returns the energy model's future with the error; its epochs are those of its own clock, not the server's."""
        own, passed = divmod(self._slots, self._emulated.slots_per_epoch)
        return self._emulated.forecast(own, epochs, error, passed)
