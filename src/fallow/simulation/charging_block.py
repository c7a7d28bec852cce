"""Some clients of a world in step 1 of a slot, in the order of ``docs/physics.md``."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fallow.energy import Physics
from fallow.energy.fixed_point import BITS, Exact, SmallShares, whole_part
from fallow.simulation.world_state import WorldState

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Notes:
    """What happened since the books were written up, in few bytes; shape (1,) for what a world has not.

    Attributes:
        harvested: Units, shape (N,), int32.
        overflow: Units, shape (N,), int32.
        leakage: Units, shape (N,), int32.
        idle_drain: Units, shape (N,), int32.
        asleep_slots: Slots, shape (N,), uint8.
    """

    harvested: NDArray[np.int32]
    overflow: NDArray[np.int32]
    leakage: NDArray[np.int32]
    idle_drain: NDArray[np.int32]
    asleep_slots: NDArray[np.uint8]

    @classmethod
    def empty(cls, physics: Physics) -> "Notes":
        """Returns notes of nothing.

        Args:
            physics: Of the world.
        """
        clients = physics.clients
        return cls(
            harvested=np.zeros(clients, dtype=np.int32),
            overflow=np.zeros(clients, dtype=np.int32),
            leakage=np.zeros(clients if physics.leaks else 1, dtype=np.int32),
            idle_drain=np.zeros(clients if physics.idles else 1, dtype=np.int32),
            asleep_slots=np.zeros(clients if physics.sleeps else 1, dtype=np.uint8),
        )


@dataclass(frozen=True, eq=False)
class Numbers:
    """What does not change during a run.

    Attributes:
        physics: Of the world.
        leak: The share that leaks away in a slot.
        shares: The share of the harvest that reaches the battery, in 2^−32, shape (N,), int64.
        drain_class: The class of each client's idle drain, shape (N,), int32.
        same_capacity: The capacity that all clients have, shape (largest block,), int32; None where they differ.
    """

    physics: Physics
    leak: SmallShares
    shares: Exact
    drain_class: NDArray[np.int32]
    same_capacity: NDArray[np.int32] | None

    def capacity_of(self, at: slice) -> NDArray[np.int32]:
        """Returns the capacities of a block, shape (n,), int32; an array in full, for which NumPy's minimum is fast.

        Args:
            at: The clients.
        """
        if self.same_capacity is None:
            return self.physics.capacity[at]
        return self.same_capacity[: at.stop - at.start]


class Block:
    """Clients that are neighbours."""

    def __init__(
        self, at: slice, numbers: Numbers, state: WorldState, notes: Notes, exact: Exact, whole: NDArray[np.int32]
    ) -> None:
        """Takes views of what belongs to the clients.

        Args:
            at: The clients.
            numbers: Of the world.
            state: Of the world; its arrays are changed in place.
            notes: Of the world; its arrays are changed in place.
            exact: To calculate in, shape (2, n), int64, with n at least the number of clients.
            whole: To calculate in, shape (n,), int32.
        """
        physics, size = numbers.physics, at.stop - at.start
        self._at, self._battery, self._capacity = at, state.battery[at], numbers.capacity_of(at)
        self._leaks, self._converts = physics.leaks, physics.converts
        self._sleeps = physics.sleeps
        self._negative, self._wide, self._whole = exact[0, :size], exact[1, :size], whole[:size]
        self._bits = np.broadcast_to(np.int64(BITS), size)
        self._leak_fraction, self._leaked = state.leak_fraction[at], notes.leakage[at]
        self._leak, self._leak_shift = _compact(-numbers.leak.factor[at]), _compact(numbers.leak.shift[at])
        self._share, self._share_fraction = _compact(-numbers.shares[at]), state.conversion_fraction[at]
        classes = numbers.drain_class[at]
        self._drain_class = classes[0] if (classes == classes[0]).all() else classes
        self._asleep, self._asleep_bytes = state.asleep[at], state.asleep[at].view(np.uint8)
        self._cutoff, self._wake = _compact(physics.cutoff[at]), _compact(physics.wake[at])
        self._harvested, self._overflow = notes.harvested[at], notes.overflow[at]
        self._drained, self._asleep_slots = notes.idle_drain[at], notes.asleep_slots[at]
        self._gross_and_lost = state.harvested[at], state.conversion_loss[at]
        self._books: list[tuple[NDArray[np.signedinteger], NDArray[np.integer]]] = [
            (state.harvested[at], self._harvested),
            (state.overflow[at], self._overflow),
            (state.leakage[at], self._leaked),
            (state.idle_drain[at], self._drained),
            (state.asleep_slots[at], self._asleep_slots),
        ]

    def charge(self, gross: NDArray[np.int32], due: NDArray[np.int32] | None) -> int:
        """Lives through step 1 of a slot.

        Args:
            gross: What each client of the world harvests, shape (N,), int32.
            due: The units that each class draws in this slot, shape (classes,), int32; None where nobody draws any.

        Returns:
            The most units that one of them harvests.
        """
        battery, units = self._battery, gross[self._at]
        most = int(units.max())
        self._harvested += units
        if self._leaks:
            self._discharge()
        level = self._convert(units) if self._converts else units
        level = np.add(level, battery, out=self._whole)
        np.minimum(level, self._capacity, out=battery)
        level -= battery  # what the cap turns away
        self._overflow += level
        if due is not None:
            self._draw(due[self._drain_class])
        if self._sleeps:
            self._fall_asleep_or_wake()
        return most

    def _discharge(self) -> None:
        """1a: ⌊E·λ + fraction⌋ leaks."""
        negative, leak = self._negative, self._whole
        negative[...] = self._battery
        negative *= self._leak
        negative >>= self._leak_shift  # rounds the negative down, and so the share up
        self._take_whole_units(self._leak_fraction, leak)
        self._battery -= leak
        self._leaked += leak

    def _convert(self, gross: NDArray[np.int32]) -> NDArray[np.int32]:
        """1b: ⌊C·η + fraction⌋ reaches the battery; returns it, shape (n,), int32."""
        negative, reaching = self._negative, self._whole
        negative[...] = gross
        negative *= self._share
        self._take_whole_units(self._share_fraction, reaching)
        return reaching

    def _take_whole_units(self, fraction: NDArray[np.uint32], units: NDArray[np.int32]) -> None:
        """Adds what is carried to what was calculated, and takes it apart into whole units and a new fraction."""
        exact = self._wide
        exact[...] = fraction  # widened first: NumPy adds numbers of two types far slower
        exact -= self._negative
        fraction[...] = exact  # the lower 32 bits
        exact >>= self._bits
        units[...] = exact

    def _draw(self, due: np.int32 | NDArray[np.int32]) -> None:
        """1d: who is awake draws what is due, as far as it is there."""
        battery, drawn = self._battery, self._whole
        np.minimum(battery, due, out=drawn)
        if self._sleeps:
            np.copyto(drawn, 0, where=self._asleep)
        battery -= drawn
        self._drained += drawn

    def _fall_asleep_or_wake(self) -> None:
        """1e: sleep below the cut-off, until the level for waking."""
        asleep = self._asleep
        asleep &= self._battery < self._wake
        asleep |= self._battery < self._cutoff
        self._asleep_slots += self._asleep_bytes

    def write_up(self) -> None:
        """Writes the notes into the books."""
        for book, note in self._books:
            wide = self._wide.view(book.dtype)[: note.size]
            wide[...] = note
            book += wide
            note[...] = 0
        if self._converts:
            # Fractions are carried, so what has reached the battery is the whole part of the share of it all.
            harvested, lost = self._gross_and_lost
            np.subtract(harvested, whole_part(harvested, -self._share), lost)


def _compact(values: NDArray[Scalar]) -> NDArray[Scalar]:
    """Returns an array of the same numbers; if they are all the same, one that repeats the first, to read less."""
    return np.broadcast_to(values[:1], values.shape) if (values == values[0]).all() else values
