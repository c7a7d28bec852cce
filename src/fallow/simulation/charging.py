"""Step 1 of a slot where a battery is not the paper's: leakage, conversion, idle drain, and who sleeps.

All of it is done for a block of clients before the next block, in arrays that stay in the processor's cache.
"""

import numpy as np
from numpy.typing import NDArray

from fallow.energy import Physics
from fallow.energy.fixed_point import Drains, Exact, Shares
from fallow.simulation.world_state import WorldState

BLOCK = 2**15
"""Clients at once: their arrays fit in the cache, and are long enough to spread the cost of a call."""


class Charging:
    """The harvest of a slot into batteries that leak, convert with a loss, feed their device and let it sleep."""

    def __init__(self, physics: Physics, state: WorldState) -> None:
        """Prepares the numbers that do not change.

        Args:
            physics: Of the world.
            state: Of the world; its arrays are changed in place.
        """
        self._capacity, self._state = physics.capacity, state
        self._leak = Shares.of(physics.self_discharge) if physics.leaks else None
        self._convert = Shares.of(physics.efficiency) if physics.converts else None
        self._idle = Drains.of(physics.idle) if physics.idles else None
        self._cutoff, self._wake, self._sleeps = physics.cutoff, physics.wake, physics.sleeps
        block = min(BLOCK, physics.clients)
        self._blocks = [slice(first, first + block) for first in range(0, physics.clients, block)]
        self._units, self._exact = np.empty(block, dtype=np.int32), np.empty(block, dtype=np.uint64)

    @classmethod
    def needed(cls, physics: Physics, state: WorldState) -> "Charging | None":
        """Returns the charging of a world; None where its batteries are the paper's.

        Args:
            physics: Of the world.
            state: Of the world.
        """
        needed = physics.leaks or physics.converts or physics.idles or physics.sleeps
        return cls(physics, state) if needed else None

    def charge(self, slot: int, gross: NDArray[np.int32]) -> None:
        """Lives through step 1 of a slot.

        Args:
            slot: Counted from the beginning of the run.
            gross: What each client harvests, shape (N,), int32; it becomes what the cap turns away.
        """
        due = self._idle.due(slot) if self._idle else None
        if due is not None and not due.any():
            due = None
        for at in self._blocks:
            battery, units = self._state.battery[at], gross[at]
            if self._leak:
                leak = self._whole_units(battery, self._leak, self._state.leak_fraction, at)
                battery -= leak
                _add(self._state.leakage[at], leak, self._exact)
            if self._convert:
                reaching = self._whole_units(units, self._convert, self._state.conversion_fraction, at)
                units -= reaching
                _add(self._state.conversion_loss[at], units, self._exact)
                np.add(reaching, battery, units)
            else:
                units += battery
            np.minimum(units, self._capacity[at], out=battery)
            units -= battery  # what the cap turned away
            if self._idle and due is not None:
                self._drain(battery, due[0] if due.size == 1 else due[self._idle.member[at]], at)
            if self._sleeps:
                self._fall_asleep_or_wake(battery, at)

    def _whole_units(self, units: NDArray[np.int32], shares: Shares, fractions: Exact, at: slice) -> NDArray[np.int32]:
        """Returns ⌊units · share + fraction⌋ of a block, shape (n,), int32, and carries the new fraction."""
        exact, fraction = self._exact[: units.size], fractions[at]
        exact[...] = units
        exact *= shares.factor[at]
        exact += fraction
        np.bitwise_and(exact, shares.rest[at], out=fraction)
        exact >>= shares.places[at]
        whole = self._units[: units.size]
        whole[...] = exact
        return whole

    def _drain(self, battery: NDArray[np.int32], due: np.int32 | NDArray[np.int32], at: slice) -> None:
        """Takes the units that are due from those who are awake, as far as they are there."""
        drained = self._units[: battery.size]
        np.minimum(battery, due, out=drained)
        if self._sleeps:
            np.copyto(drained, 0, where=self._state.asleep[at])
        battery -= drained
        _add(self._state.idle_drain[at], drained, self._exact)

    def _fall_asleep_or_wake(self, battery: NDArray[np.int32], at: slice) -> None:
        """Lets sleep who is below the cut-off, and wakes who has come to the level for it; counts the sleepers."""
        asleep, slots = self._state.asleep[at], self._units[: battery.size]
        asleep &= battery < self._wake[at]
        asleep |= battery < self._cutoff[at]
        slots[...] = asleep
        self._state.asleep_slots[at] += slots


def _add(book: NDArray[np.int64], units: NDArray[np.int32], scratch: Exact) -> None:
    """Adds units to a book; widened first, because NumPy adds arrays of two types far slower."""
    wide = scratch[: units.size].view(np.int64)
    wide[...] = units
    book += wide
