"""Step 1 of a slot where a battery is not the paper's: leakage, conversion, idle drain, and who sleeps.

A world of a million clients is larger than any cache, so what takes time is memory. All is done for a block of clients
before the next, and the books are kept in few bytes, as notes, and written up once an epoch.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from fallow.energy import Physics
from fallow.energy.base import MOST_UNITS
from fallow.energy.fixed_point import Drains, SmallShares, fixed_shares
from fallow.simulation.charging_block import Block, Notes, Numbers
from fallow.simulation.world_state import WorldState

BLOCK: Final = 2**17
"""Clients at once: their arrays fit in the cache, and are long enough to spread the cost of a call."""

MOST_SLOTS: Final = 2**8 - 1
MOST_NOTED: Final = 2**31 - 1
"""Most slots, and most units of a client, that fit into the notes."""


class Charging:
    """The harvest of a slot into batteries that leak, convert with a loss, feed their device and let it sleep."""

    def __init__(self, physics: Physics, state: WorldState) -> None:
        """Prepares the numbers that do not change.

        Args:
            physics: Of the world.
            state: Of the world; its arrays are changed in place.
        """
        self._drains, notes = Drains.of(physics.idle), Notes.empty(physics)
        self._most_leak = int(physics.capacity.max()) if physics.leaks else 0
        leak, shares = SmallShares.of(physics.self_discharge), fixed_shares(physics.efficiency)
        same = bool((physics.capacity == physics.capacity[0]).all())
        capacity = np.full(min(BLOCK, physics.clients), physics.capacity[0], dtype=np.int32) if same else None
        numbers = Numbers(physics, leak, shares, self._drains.member, capacity)
        block = min(BLOCK, physics.clients)
        exact, whole = np.empty((2, block), dtype=np.int64), np.empty(block, dtype=np.int32)
        self._blocks = [
            Block(slice(first, min(first + BLOCK, physics.clients)), numbers, state, notes, exact, whole)
            for first in range(0, physics.clients, BLOCK)
        ]
        self._slots = self._most = 0  # slots, and most units of a client, since the books were written up

    @classmethod
    def needed(cls, physics: Physics, state: WorldState) -> "Charging | None":
        """Returns the charging of a world; None where its batteries are the paper's.

        Args:
            physics: Of the world.
            state: Of the world.
        """
        needed = physics.leaks or physics.converts or physics.idles or physics.sleeps
        return cls(physics, state) if needed else None

    def harvest(self, slot: int, rows: Iterable[NDArray[np.int32]], slot_by_slot: bool) -> Iterator[bool]:
        """Lives through step 1 of the slots of an epoch; yields after every slot.

        Args:
            slot: The first slot, counted from the beginning of the run.
            rows: What each client harvests, some slots at a time, each of shape (slots, N), int32.
            slot_by_slot: Whether the books are brought up to date in every slot; else after `write_up`.
        """
        for units in rows:
            for gross in units:
                self._charge(slot, gross)
                if slot_by_slot:
                    self.write_up()
                slot += 1
                yield True

    def _charge(self, slot: int, gross: NDArray[np.int32]) -> None:
        """Lives through step 1 of a slot."""
        due = self._drains.due(slot)
        most = max(int(due.max()), self._most_leak)
        for block in self._blocks:
            most = max(most, block.charge(gross, due if due.any() else None))
        self._slots, self._most = self._slots + 1, self._most + most
        if self._slots == MOST_SLOTS or self._most > MOST_NOTED - MOST_UNITS:
            self.write_up()

    def write_up(self) -> None:
        """Writes the notes into the books."""
        for block in self._blocks:
            block.write_up()
        self._slots = self._most = 0
