"""The slots of one epoch: harvest, train, upload, select, start. The physics is enforced here and nowhere else.

The order within a slot is that of ``docs/reading-the-paper.md``; all clients at once, NumPy only. An epoch is opened,
which is its first slot up to the selection, and then run, which is the rest of it.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from fallow.arrays import frozen_copy
from fallow.energy import Physics, Units, unit_rows
from fallow.errors import EnergyError
from fallow.policies import Mask, SlotView, checked_mask
from fallow.simulation.books import balance_books, sum_slots
from fallow.simulation.busy import NOBODY, Busy
from fallow.simulation.costs import Costs
from fallow.simulation.counters import COUNTERS, Counters
from fallow.simulation.epochs import Course, LivedEpoch, OpenEpoch
from fallow.simulation.events import Clients, Event
from fallow.simulation.world_state import WorldState

StartHook = Callable[[SlotView], Mask]
"""The policy's `start`: which of the clients that are ready start in this slot."""

Watch = Callable[[int, "World"], None]
"""Called at the end of every slot, with the slot and the world; for tests and pictures."""


class World:
    """All batteries and what their owners are doing.

    Attributes:
        physics: What does not change.
        state: What does; its arrays are the world's own.
    """

    def __init__(self, physics: Physics, state: WorldState | None = None) -> None:
        """Goes on from a state.

        Args:
            physics: What does not change.
            state: Its arrays belong to the world from now on. None: the state before the first slot.
        """
        self.physics = physics
        self.state = WorldState.first(physics) if state is None else state
        self._train, self._train_slots = Costs(physics.train_cost), Costs(physics.train_slots)
        self._transmit, self._probe = Costs(physics.transmit_cost), Costs(physics.probe_cost)
        self._everyone = np.broadcast_to(np.True_, physics.clients)
        self._busy: Busy | None = None

    def open_epoch(
        self, epoch: int, harvest: Iterable[Units], *, record_events: bool = True, slot_by_slot: bool = False
    ) -> OpenEpoch:
        """Lives through the first slot of an epoch up to the selection: harvest, uploads, probes. Returns the epoch.

        Args:
            epoch: t.
            harvest: S rows of units, each of shape (N,), of whole numbers.
            record_events: Whether to list what happens to whom.
            slot_by_slot: Whether the books are brought up to date in every slot, for those who look on, or once for
                many slots.
        """
        physics, state = self.physics, self.state
        slot = epoch * physics.slots_per_epoch
        self._busy = busy = self._busy or Busy(state, slot)
        rows = unit_rows(harvest, physics.clients, physics.slots_per_epoch, most=1 if slot_by_slot else None)
        course = Course(
            busy,
            self._harvest(rows),
            harvested_before=int(state.harvested.sum()),
            overflow_before=int(state.overflow.sum()),
            delivered=np.zeros(physics.clients, dtype=np.bool_),
            events=[] if record_events else None,
            counts=dict.fromkeys(COUNTERS, 0),
        )
        course.live_through_harvest(0, physics.slots_per_epoch)
        if not physics.ideal:
            short = state.battery < physics.train_cost
            short &= ~state.committed
            np.add(state.short_epochs, short, state.short_epochs)
        sent = self._upload(slot, course)
        paid = self._pay_probes(course)
        return OpenEpoch(slot, paid, busy.finishing(slot), sent, course)

    def run_slots(
        self,
        opened: OpenEpoch,
        selected: Mask,
        start: StartHook | None = None,
        watch: Watch | None = None,
    ) -> LivedEpoch:
        """Lives through the rest of an epoch, and returns what happened.

        Args:
            opened: The epoch.
            selected: The participants, shape (N,), bool.
            start: Called in every slot; narrows the clients that may start. Without it all of them do.
            watch: Called at the end of every slot, with the slot and the world; for tests and pictures.

        Returns:
            What happened. The energy books are balanced for every client before it returns.

        Raises:
            EnergyError: The energy model gave another number of slots than an epoch has.
        """
        physics, course = self.physics, opened.course
        who = checked_mask(selected, physics.clients, "select").nonzero()[0]
        course.log(Event("select", opened.slot, who))
        if physics.ideal:
            self._run_ideal_slots(opened, who, watch)
        else:
            self._run_real_slots(opened, selected, start, watch)
        if next(course.harvest, False):
            raise EnergyError(f"The energy model gave more than the {physics.slots_per_epoch} slots of an epoch.")
        balance_books(physics, self.state)
        counts = course.counts | {
            "harvested": int(self.state.harvested.sum()) - course.harvested_before,
            "overflow": int(self.state.overflow.sum()) - course.overflow_before,
            "stored": int(self.state.battery.sum(dtype=np.int64)),
            "selected": who.size,
        }
        return LivedEpoch(Counters(**counts), selected, course.delivered, course.events or [])

    def training(self, slot: int) -> Mask:
        """Returns who is in training in a slot of the run, shape (N,), bool."""
        return self.state.committed & (self.state.free_at > slot)

    def unsent(self, slot: int) -> Mask:
        """Returns who has a finished update that waits to be sent in a slot of the run, shape (N,), bool."""
        return self.state.committed & (self.state.free_at <= slot)

    def _run_real_slots(self, opened: OpenEpoch, selected: Mask, start: StartHook | None, watch: Watch | None) -> None:
        """Steps 1 to 3 and 5 of every slot; the first has had its steps 1 to 4."""
        physics, course, sent = self.physics, opened.course, opened.sent
        limit = physics.starts_per_epoch
        costs = (
            physics.slots_per_epoch,
            physics.train_cost,
            physics.transmit_cost,
            physics.train_slots,
            physics.transmit_slots,
        )
        chances = np.where(selected, limit, 0) if limit else selected  # what is left of each client's starts
        may_start = selected & ~self.state.committed
        may_start[sent] = False
        for slot_in_epoch in range(physics.slots_per_epoch):
            slot = opened.slot + slot_in_epoch
            if slot_in_epoch:
                course.live_through_harvest(slot_in_epoch, physics.slots_per_epoch)
                sent = self._upload(slot, course)
            ready = self.state.battery >= physics.train_cost
            ready &= may_start
            if start is not None:
                view = SlotView(slot_in_epoch, frozen_copy(self.state.battery), frozen_copy(ready), *costs)
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

    def _run_ideal_slots(self, opened: OpenEpoch, who: Clients, watch: Watch | None) -> None:
        """Starts everyone in the first slot and delivers in the last, free of charge (the policy `unlimited`)."""
        state, course, last = self.state, opened.course, opened.slot + self.physics.slots_per_epoch - 1
        for slot in range(opened.slot, last + 1):
            if slot > opened.slot:
                course.live_through_harvest(slot - opened.slot, self.physics.slots_per_epoch)
            else:
                state.starts[who] += 1
                course.log(Event("start", slot, who))
            if slot == last:
                state.uploads[who] += 1
                course.delivered[who] = True
                course.log(Event("finish", slot, who))
                course.log(Event("upload", slot, who, np.zeros(who.size, dtype=np.int32)))
            if watch:
                watch(slot, self)
        course.counts.update(dict.fromkeys(("starts", "finishes", "uploads"), who.size))

    def _harvest(self, rows: Iterator[NDArray[np.int32]]) -> Iterator[bool]:
        """Step 1: E ← min(E + C, E_max); yields after every slot."""
        battery, capacity = self.state.battery, self.physics.capacity
        for units in rows:
            np.add(self.state.harvested, sum_slots(units), self.state.harvested)
            for slots_left, gross in zip(range(len(units) - 1, -1, -1), units, strict=True):
                np.add(gross, battery, gross)
                np.minimum(gross, capacity, out=battery)
                np.subtract(gross, battery, gross)  # what the cap turned away
                if not slots_left:
                    np.add(self.state.overflow, sum_slots(units), self.state.overflow)
                yield True

    def _upload(self, slot: int, course: Course) -> Clients:
        """Steps 2 and 3: who is not in training and has an unsent update sends it, energy permitting."""
        busy, state = course.busy, self.state
        if not busy.waiting.size:
            return NOBODY
        who = busy.send(state.battery[busy.waiting] >= self._transmit.of(busy.waiting))
        if not who.size:
            return who
        state.battery[who] -= self._transmit.of(who)
        state.committed[who] = False
        state.uploads[who] += 1
        course.delivered[who] = True
        slots = self.physics.slots_per_epoch
        staleness = slot // slots - (state.free_at[who] - self._train_slots.of(who)) // slots
        course.counts["consumed_tx"] += self._transmit.total(who)
        course.counts["uploads"] += who.size
        course.counts["stale_uploads"] += int(np.count_nonzero(staleness))
        course.log(Event("upload", slot, who, staleness.astype(np.int32)))
        return who

    def _pay_probes(self, course: Course) -> Mask:
        """Step 4, before the selection: who can pay for a probe does (reading 11). Returns who has one."""
        cost, state = self.physics.probe_cost, self.state
        if not self._probe:
            return self._everyone
        paid = state.battery >= cost
        np.subtract(state.battery, cost, state.battery, where=paid)
        np.add(state.probes, paid, state.probes)
        course.counts["consumed_probe"] = self._probe.total(paid.nonzero()[0])
        return paid

    def _start(self, slot: int, who: Clients, course: Course) -> None:
        """Step 5: debit the whole training; its first batch runs in this slot."""
        state, slots = self.state, self._train_slots.of(who)
        state.battery[who] -= self._train.of(who)
        state.committed[who] = True
        state.free_at[who] = slot + slots
        state.starts[who] += 1
        course.busy.add(who, slot - 1 + slots)
        course.counts["starts"] += who.size
        course.counts["consumed_train"] += self._train.total(who)
        course.log(Event("start", slot, who))

    def _finish(self, slot: int, course: Course) -> None:
        """Notes whose last batch ran in this slot."""
        who = course.busy.finish(slot)
        if who.size:
            course.counts["finishes"] += who.size
            course.log(Event("finish", slot, who))
