"""The slots of one epoch: harvest, train, upload, select, start. The physics is enforced here and nowhere else.

The order within a slot is that of ``docs/reading-the-paper.md``; all clients at once, NumPy only. An epoch is opened,
which is its first slot up to the selection, and then run, which is the rest of it.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from fallow.arrays import frozen_copy
from fallow.energy import Physics, Units, unit_rows
from fallow.errors import EnergyError, PhysicsError
from fallow.policies import Mask, SlotView, checked_mask
from fallow.simulation.counters import COUNTERS, Counters
from fallow.simulation.epochs import Course, LivedEpoch, OpenEpoch
from fallow.simulation.events import Clients, Event
from fallow.simulation.world_state import WorldState

StartHook = Callable[[SlotView], Mask]
"""The policy's `start`: which of the clients that are ready start in this slot."""

NOBODY: Clients = np.zeros(0, dtype=np.intp)


class World:
    """All batteries and what their owners are doing.

    Attributes:
        physics: What does not change.
        state: What does; its arrays are the world's own.
    """

    def __init__(self, physics: Physics, state: WorldState | None = None) -> None:
        """Takes up a state; None: the one before the first slot."""
        self.physics = physics
        self.state = WorldState.first(physics) if state is None else state
        cost = physics.train_cost
        self._common_cost = int(cost[0]) if (cost == cost[0]).all() else None
        # Both follow from the state, once a slot is known, and save a search through all clients in every slot.
        self._last_batches: dict[int, list[Clients]] = {}  # who is in training, by the slot of the last batch
        self._waiting = NOBODY  # who has an update that is not sent
        self._found_busy = False

    def open_epoch(
        self, epoch: int, harvest: Iterable[Units], *, record_events: bool = True, slot_by_slot: bool = False
    ) -> OpenEpoch:
        """Lives through the first slot of an epoch up to the selection: harvest, uploads, probes.

        Args:
            epoch: t.
            harvest: S rows of units, each of shape (N,).
            record_events: Whether to list what happens to whom.
            slot_by_slot: Whether the books are brought up to date in every slot, for those who look on, or once for
                many slots.
        """
        physics, state = self.physics, self.state
        slot = epoch * physics.slots_per_epoch
        if not self._found_busy:
            self._find_busy(slot)
        rows = unit_rows(harvest, physics.clients, physics.slots_per_epoch, most=1 if slot_by_slot else None)
        counts = dict.fromkeys(COUNTERS, 0)
        delivered = np.zeros(physics.clients, dtype=np.bool_)
        course = Course(self._harvest(rows, counts), delivered, [] if record_events else None, counts)
        self._live_through_harvest(course, 0)
        if not physics.ideal:
            short = state.battery < physics.train_cost
            short &= ~state.committed
            np.add(state.short_epochs, short, state.short_epochs)
        sent = self._upload(slot, course)
        paid = self._pay_probes(course)
        return OpenEpoch(slot, paid, _merged(self._last_batches.get(slot, [])), sent, course)

    def run_slots(
        self,
        opened: OpenEpoch,
        selected: Mask,
        start: StartHook | None = None,
        watch: Callable[[int, "World"], None] | None = None,
    ) -> LivedEpoch:
        """Lives through the rest of an epoch.

        Args:
            opened: The epoch.
            selected: The participants, shape (N,), bool.
            start: Called in every slot; narrows the clients that may start. Without it all of them do.
            watch: Called at the end of every slot with the slot; for tests and pictures.

        Returns:
            What happened. The energy books are balanced for every client before it returns.
        """
        physics, course = self.physics, opened.course
        who = checked_mask(selected, physics.clients, "select").nonzero()[0]
        _log(course, Event("select", opened.slot, who))
        if physics.ideal:
            self._run_ideal_slots(opened, who, watch)
        else:
            self._run_real_slots(opened, selected, start, watch)
        if next(course.harvest, False):
            raise EnergyError(f"The energy model gave more than the {physics.slots_per_epoch} slots of an epoch.")
        self.balance_books()
        counts = course.counts | {"selected": who.size, "stored": int(self.state.battery.sum(dtype=np.int64))}
        if not physics.ideal:
            counts["consumed_tx"] = counts["uploads"] * physics.transmit_cost
        return LivedEpoch(Counters(**counts), selected, course.delivered, course.events or [])

    def training(self, slot: int) -> Mask:
        """Returns who is in training in a slot, shape (N,), bool."""
        return self.state.committed & (self.state.free_at > slot)

    def unsent(self, slot: int) -> Mask:
        """Returns who has a finished update that waits to be sent, shape (N,), bool."""
        return self.state.committed & (self.state.free_at <= slot)

    def balance_books(self) -> None:
        """Checks for every client that harvested = consumed + change of stored + overflow, and 0 ≤ stored ≤ E_max."""
        physics, state = self.physics, self.state
        stored = physics.initial + state.harvested
        stored -= state.overflow
        if not physics.ideal:
            stored -= np.multiply(state.starts, physics.train_cost, dtype=np.int64)
            stored -= np.multiply(state.uploads, physics.transmit_cost, dtype=np.int64)
        if physics.probe_cost:
            stored -= np.multiply(state.probes, physics.probe_cost, dtype=np.int64)
        wrong = ((stored != state.battery) | (stored < 0) | (stored > physics.capacity)).nonzero()[0]
        if wrong.size:
            client = int(wrong[0])
            raise PhysicsError(
                f"The energy books of {wrong.size} clients do not balance: client {client} should store "
                f"{stored[client]} units and stores {state.battery[client]}. This is a bug in Fallow; please report it."
            )

    def _run_real_slots(
        self,
        opened: OpenEpoch,
        selected: Mask,
        start: StartHook | None,
        watch: Callable[[int, "World"], None] | None,
    ) -> None:
        """Steps 1 to 3 and 5 of every slot; the first has had its steps 1 to 4."""
        physics, course, sent = self.physics, opened.course, opened.sent
        limit = physics.starts_per_epoch
        chances = np.where(selected, limit, 0) if limit else selected  # what is left of each client's starts
        may_start = selected & ~self.state.committed
        may_start[sent] = False
        for slot_in_epoch in range(physics.slots_per_epoch):
            slot = opened.slot + slot_in_epoch
            if slot_in_epoch:
                self._live_through_harvest(course, slot_in_epoch)
                sent = self._upload(slot, course)
            ready = self.state.battery >= physics.train_cost
            ready &= may_start
            if start is not None:
                view = SlotView(slot_in_epoch, frozen_copy(self.state.battery), frozen_copy(ready))
                ready &= checked_mask(start(view), physics.clients, "start")
            started = ready.nonzero()[0]
            if started.size:
                self._start(slot, started, course)
                may_start[started] = False
                if limit:
                    chances[started] -= 1
            if sent.size:  # only now: who uploads may not start in the same slot (T + L ≤ 1)
                may_start[sent] = chances[sent]
            self._finish(slot, course)
            if watch:
                watch(slot, self)

    def _run_ideal_slots(self, opened: OpenEpoch, who: Clients, watch: Callable[[int, "World"], None] | None) -> None:
        """Starts everyone in the first slot and delivers in the last, free of charge (the policy `unlimited`)."""
        state, course, last = self.state, opened.course, opened.slot + self.physics.slots_per_epoch - 1
        for slot in range(opened.slot, last + 1):
            if slot > opened.slot:
                self._live_through_harvest(course, slot - opened.slot)
            else:
                state.starts[who] += 1
                _log(course, Event("start", slot, who))
            if slot == last:
                state.uploads[who] += 1
                course.delivered[who] = True
                _log(course, Event("finish", slot, who))
                _log(course, Event("upload", slot, who, np.zeros(who.size, dtype=np.int32)))
            if watch:
                watch(slot, self)
        course.counts.update(dict.fromkeys(("starts", "finishes", "uploads"), who.size))

    def _harvest(self, rows: Iterator[NDArray[np.int32]], counts: dict[str, int]) -> Iterator[bool]:
        """Step 1: E ← min(E + C, E_max); yields after every slot."""
        battery, capacity = self.state.battery, self.physics.capacity
        for units in rows:
            gain = _sum(units)
            np.add(self.state.harvested, gain, self.state.harvested)
            counts["harvested"] += int(gain.sum(dtype=np.int64))
            for slots_left, gross in zip(range(len(units) - 1, -1, -1), units, strict=True):
                np.add(gross, battery, gross)
                np.minimum(gross, capacity, out=battery)
                np.subtract(gross, battery, gross)  # what the cap turned away
                if not slots_left:
                    excess = _sum(units)
                    np.add(self.state.overflow, excess, self.state.overflow)
                    counts["overflow"] += int(excess.sum(dtype=np.int64))
                yield True

    def _live_through_harvest(self, course: Course, slot_in_epoch: int) -> None:
        if not next(course.harvest, False):
            raise EnergyError(
                f"The energy model gave {slot_in_epoch} slots for an epoch of {self.physics.slots_per_epoch}."
            )

    def _upload(self, slot: int, course: Course) -> Clients:
        """Steps 2 and 3: who is not in training and has an unsent update sends it, energy permitting."""
        if not self._waiting.size:
            return NOBODY
        state, cost = self.state, self.physics.transmit_cost
        able = state.battery[self._waiting] >= cost
        who = self._waiting[able]
        if not who.size:
            return NOBODY
        self._waiting = self._waiting[~able]
        state.battery[who] -= cost
        state.committed[who] = False
        state.uploads[who] += 1
        course.delivered[who] = True
        slots = self.physics.slots_per_epoch
        staleness = slot // slots - (state.free_at[who] - self.physics.train_cost[who]) // slots
        course.counts["uploads"] += who.size
        course.counts["stale_uploads"] += int(np.count_nonzero(staleness))
        if course.events is not None:
            course.events.append(Event("upload", slot, who, staleness.astype(np.int32)))
        return who

    def _pay_probes(self, course: Course) -> Mask:
        """Step 4, before the selection: who can pay for a probe does (reading 11). Returns who has one."""
        cost, state = self.physics.probe_cost, self.state
        if not cost:
            return np.broadcast_to(np.True_, self.physics.clients)
        paid = state.battery >= cost
        state.battery[paid] -= cost
        np.add(state.probes, paid, state.probes)
        course.counts["consumed_probe"] = int(np.count_nonzero(paid)) * cost
        return paid

    def _start(self, slot: int, who: Clients, course: Course) -> None:
        """Step 5: debit the whole training; its first batch runs in this slot."""
        state, common = self.state, self._common_cost
        cost = self.physics.train_cost[who] if common is None else common
        state.battery[who] -= cost
        state.committed[who] = True
        state.free_at[who] = slot + cost
        state.starts[who] += 1
        self._schedule(who, slot - 1 + cost)
        course.counts["starts"] += who.size
        course.counts["consumed_train"] += (
            who.size * common if common is not None else int(np.sum(cost, dtype=np.int64))
        )
        if course.events is not None:
            course.events.append(Event("start", slot, who))

    def _finish(self, slot: int, course: Course) -> None:
        """Notes whose last batch ran in this slot."""
        parts = self._last_batches.pop(slot, None)
        if parts is not None:
            who = _merged(parts)
            self._waiting = _merged([self._waiting, who]) if self._waiting.size else who
            course.counts["finishes"] += who.size
            if course.events is not None:
                course.events.append(Event("finish", slot, who))

    def _find_busy(self, slot: int) -> None:
        """Finds who is in training, and who waits to send, as a slot begins."""
        who = self.state.committed.nonzero()[0]
        last = self.state.free_at[who] - 1
        self._found_busy, self._waiting = True, who[last < slot]
        self._schedule(who[last >= slot], last[last >= slot])

    def _schedule(self, who: Clients, last: int | NDArray[np.int32]) -> None:
        """Notes in which slot the last batch of some trainings runs."""
        for slot in np.unique(last).tolist() if isinstance(last, np.ndarray) else (last,):
            self._last_batches.setdefault(slot, []).append(who[last == slot] if isinstance(last, np.ndarray) else who)


def _merged(parts: list[Clients]) -> Clients:
    """Returns the clients of some arrays in ascending order."""
    if len(parts) == 1:
        return parts[0]
    return np.sort(np.concatenate(parts)) if parts else NOBODY


def _sum(units: NDArray[np.int32]) -> NDArray[np.signedinteger]:
    """Returns the sum of some slots for each client, shape (N,)."""
    row: NDArray[np.signedinteger] = units[0] if len(units) == 1 else units.sum(axis=0, dtype=np.int64)
    return row


def _log(course: Course, event: Event) -> None:
    if course.events is not None:
        course.events.append(event)
