"""The slots of one epoch: harvest, train, upload, select, start. The physics is enforced here and nowhere else.

The order within a slot is that of ``docs/physics.md``; all clients at once, NumPy only. An epoch is opened, which is
its first slot up to the selection, and then run, which is the rest of it.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from fallow.arrays import frozen_copy
from fallow.energy import Physics, Units, unit_rows
from fallow.errors import EnergyError
from fallow.policies import Mask, SlotView, checked_mask
from fallow.simulation.actions import Actions
from fallow.simulation.books import balance_books, read_books, sum_slots
from fallow.simulation.busy import Busy
from fallow.simulation.charging import Charging
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
        capacity: Units that each client can have to spend, above its cut-off, shape (N,), int32.
        pays_probes: Whether it may be that not everyone can make its probe.
    """

    def __init__(self, physics: Physics, state: WorldState | None = None) -> None:
        """Goes on from a state.

        Args:
            physics: What does not change.
            state: Its arrays belong to the world from now on. None: the state before the first slot.
        """
        self.physics = physics
        self.state = WorldState.first(physics) if state is None else state
        self.capacity = frozen_copy(physics.capacity - physics.cutoff) if physics.sleeps else physics.capacity
        self._actions, self._charging = Actions(physics, self.state), Charging.needed(physics, self.state)
        self.pays_probes = self._actions.pays_probes
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
        physics, state, actions = self.physics, self.state, self._actions
        slot = epoch * physics.slots_per_epoch
        self._busy = busy = self._busy or Busy(state, slot)
        rows = unit_rows(harvest, physics.clients, physics.slots_per_epoch, most=1 if slot_by_slot else None)
        course = Course(
            busy,
            self._charging.harvest(slot, rows, slot_by_slot) if self._charging else self._harvest(rows),
            before=read_books(physics, state),
            delivered=np.zeros(physics.clients, dtype=np.bool_),
            events=[] if record_events else None,
            counts=dict.fromkeys(COUNTERS, 0),
        )
        course.live_through_harvest(0, physics.slots_per_epoch)
        if not physics.ideal:
            self._note_who_is_short()
        sent = actions.send(slot, course)
        reached = actions.listen(course)
        paid, start_level = actions.probe(reached, course)
        return OpenEpoch(slot, paid, busy.training.ending(slot), sent, reached, start_level, course)

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
        if self._charging:
            self._charging.write_up()
        balance_books(physics, self.state)
        counts = course.counts | {
            **{counter: units - course.before[counter] for counter, units in read_books(physics, self.state).items()},
            "stored": int(self.state.battery.sum(dtype=np.int64)),
            "selected": who.size,
        }
        return LivedEpoch(Counters(**counts), selected, course.delivered, course.events or [])

    def training(self, slot: int) -> Mask:
        """Returns who is in training in a slot of the run, shape (N,), bool."""
        return self.state.committed & (self.state.free_at > slot)

    def unsent(self, slot: int) -> Mask:
        """Returns whose finished update waits to be sent, or is on its way, in a slot of the run, shape (N,), bool."""
        return self.state.committed & (self.state.free_at <= slot)

    def spendable(self, reached: Mask) -> NDArray[np.int32]:
        """Returns the units that each client can spend, shape (N,), int32, read-only.

        That is what is above the cut-off; nothing where a client sleeps or does not hear the server.

        Args:
            reached: Who hears the server in this epoch, shape (N,), bool.
        """
        if not self._actions.hears_some and not self.physics.sleeps:
            return frozen_copy(self.state.battery)
        units: NDArray[np.int32] = np.maximum(self.state.battery - self.physics.cutoff, 0)
        units[~reached] = 0
        if self.physics.sleeps:
            units[self.state.asleep] = 0
        units.flags.writeable = False
        return units

    def start_cost(self, opened: OpenEpoch) -> NDArray[np.int32]:
        """Returns the units of a start, shape (N,), int32: a training, and the download where it is still to come.

        Args:
            opened: The epoch.
        """
        if opened.start_level is self._actions.start_level:
            return self.physics.train_cost
        cost = opened.start_level - self.physics.cutoff
        cost.flags.writeable = False
        return cost

    def _note_who_is_short(self) -> None:
        """Counts the epoch for who is idle and has less energy than a training costs."""
        state, physics = self.state, self.physics
        short = state.battery < self._actions.first_start_level
        if physics.sleeps:
            short |= state.asleep
        short &= ~state.committed
        np.add(state.short_epochs, short, state.short_epochs)

    def _run_real_slots(self, opened: OpenEpoch, selected: Mask, start: StartHook | None, watch: Watch | None) -> None:
        """Steps 1 to 3 and 5 of every slot; the first has had its steps 1 to 4."""
        physics, course, sent, actions = self.physics, opened.course, opened.sent, self._actions
        limit, level = physics.starts_per_epoch, opened.start_level
        willing = selected & opened.reached if actions.hears_some else selected
        chances = np.where(willing, limit, 0) if limit else willing  # what is left of each client's starts
        may_start = willing & ~self.state.committed
        may_start[sent] = False
        for slot_in_epoch in range(physics.slots_per_epoch):
            slot = opened.slot + slot_in_epoch
            if slot_in_epoch:
                course.live_through_harvest(slot_in_epoch, physics.slots_per_epoch)
                sent = actions.send(slot, course)
            ready = self.state.battery >= level
            ready &= may_start
            if physics.sleeps:
                np.greater(ready, self.state.asleep, out=ready)  # ready and not asleep, without a copy
            if start is not None:
                ready &= checked_mask(start(self._slot_view(slot_in_epoch, ready, opened)), physics.clients, "start")
            started = ready.nonzero()[0]
            if started.size:
                actions.start(slot, started, level, course)
                may_start[started] = False
                if limit:
                    chances[started] -= 1
            if sent.size:  # only now: who uploads may not start in the same slot (T + L ≤ 1)
                may_start[sent] = chances[sent]
            actions.finish(slot, course)
            if watch:
                watch(slot, self)

    def _slot_view(self, slot_in_epoch: int, ready: Mask, opened: OpenEpoch) -> SlotView:
        """Returns what a policy sees in a slot."""
        physics = self.physics
        return SlotView(
            slot_in_epoch,
            self.spendable(opened.reached),
            frozen_copy(ready),
            physics.slots_per_epoch,
            self.start_cost(opened),
            physics.transmit_cost,
            physics.train_slots,
            physics.transmit_slots,
        )

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
        """Step 1 of the paper's batteries: E ← min(E + C, E_max); yields after every slot."""
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
