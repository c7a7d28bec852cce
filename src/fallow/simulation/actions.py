"""What clients do in a slot: send, listen, probe, start, finish. Each debits batteries and is written down."""

import numpy as np
from numpy.typing import NDArray

from fallow.energy import Physics
from fallow.policies import Mask
from fallow.simulation.busy import NOBODY
from fallow.simulation.costs import Costs, added
from fallow.simulation.epochs import Course
from fallow.simulation.events import Clients, Event
from fallow.simulation.world_state import NO_UPLOAD, WorldState


class Actions:
    """The actions of a world. What the world does not have is not computed.

    Attributes:
        hears_some: Whether it may be that not everyone hears the server.
        pays_probes: Whether it may be that not everyone can make its probe.
        start_level: Units that must be in the battery for a start by one who has the model, shape (N,), int32.
        first_start_level: The same for one who has not, shape (N,), int32.
    """

    def __init__(self, physics: Physics, state: WorldState) -> None:
        """Prepares the numbers that do not change.

        Args:
            physics: Of the world.
            state: Of the world; its arrays are changed in place.
        """
        self._physics, self._state = physics, state
        self._train, self._train_slots = Costs(physics.train_cost), Costs(physics.train_slots)
        self._transmit, self._transmit_slots = Costs(physics.transmit_cost), Costs(physics.transmit_slots)
        self._listen, self._download = Costs(physics.listen_cost), Costs(physics.download_cost)
        self._probe = Costs(physics.probe_cost)
        self._send_level = Costs(added(physics.transmit_cost, physics.cutoff))
        self.start_level = added(physics.train_cost, physics.cutoff)
        self.first_start_level = added(self.start_level, physics.download_cost)
        self.hears_some = not physics.ideal and (physics.listens or physics.sleeps)
        self._probes = not physics.ideal and (physics.probes or physics.pays_probes)
        self.pays_probes = self._probes and (physics.pays_probes or physics.downloads or self.hears_some)
        self._everyone = np.broadcast_to(np.True_, physics.clients)

    def send(self, slot: int, course: Course) -> Clients:
        """Step 3: who has a finished update, is awake and has the energy begins to send. Returns whose update arrives.

        Args:
            slot: Counted from the beginning of the run.
            course: Of the epoch.
        """
        busy, state = course.busy, self._state
        who = NOBODY
        if not busy.waiting.size and not busy.sending.by_slot:
            return who
        if busy.waiting.size:
            able = state.battery[busy.waiting] >= self._send_level.of(busy.waiting)
            if self._physics.sleeps:
                able &= ~state.asleep[busy.waiting]
            who = busy.send(able)
            if who.size:
                state.battery[who] -= self._transmit.of(who)
                course.counts["consumed_tx"] += self._transmit.total(who)
        if self._physics.long_uploads:
            who = self._send_on(slot, who, course)
        if who.size:
            self._receive(slot, who, course)
        return who

    def _send_on(self, slot: int, who: Clients, course: Course) -> Clients:
        """Puts uploads under way, and returns whose upload has its last slot now."""
        state, sending = self._state, course.busy.sending
        if who.size:
            last = slot - 1 + self._transmit_slots.of(who)
            state.sends[who] += 1
            state.arrives_at[who] = last
            sending.add(who, last)
        arrived = sending.take(slot)
        state.arrives_at[arrived] = NO_UPLOAD
        return arrived

    def _receive(self, slot: int, who: Clients, course: Course) -> None:
        """Notes whose update arrives."""
        state, slots = self._state, self._physics.slots_per_epoch
        state.committed[who] = False
        state.uploads[who] += 1
        course.delivered[who] = True
        staleness = slot // slots - (state.free_at[who] - self._train_slots.of(who)) // slots
        course.counts["uploads"] += who.size
        course.counts["stale_uploads"] += int(np.count_nonzero(staleness))
        course.log(Event("upload", slot, who, staleness.astype(np.int32)))

    def listen(self, course: Course) -> Mask:
        """Step 4: who is awake and can pay for it hears the server. Returns who does, shape (N,), bool.

        Args:
            course: Of the epoch.
        """
        if not self.hears_some:
            return self._everyone
        state, physics = self._state, self._physics
        reached = state.battery >= added(physics.listen_cost, physics.cutoff)
        if physics.sleeps:
            reached &= ~state.asleep
        if physics.listens:
            self._pay(self._listen, reached, state.listens, "consumed_listen", course)
        return reached

    def probe(self, reached: Mask, course: Course) -> tuple[Mask, NDArray[np.int32]]:
        """Step 4, before the selection: who can pay for a probe does (reading 11), and has the model with it.

        Args:
            reached: Who hears the server, shape (N,), bool.
            course: Of the epoch.

        Returns:
            Who has made its probe, shape (N,), bool, and the level that each client needs to start, shape (N,), int32.
        """
        if not self._probes:
            return self._everyone, self._level(None)
        state, physics = self._state, self._physics
        if not physics.pays_probes and not physics.downloads:
            return reached, self.start_level
        paid = state.battery >= added(added(physics.probe_cost, physics.download_cost), physics.cutoff)
        if self.hears_some:
            paid &= reached
        if physics.pays_probes:
            self._pay(self._probe, paid, state.probes, "consumed_probe", course)
        if physics.downloads:
            self._pay(self._download, paid, state.downloads, "consumed_download", course)
        return paid, self._level(paid)

    def _level(self, has_model: Mask | None) -> NDArray[np.int32]:
        """Returns the level that each client needs to start, shape (N,), int32; with downloads, a new array."""
        if not self._physics.downloads:
            return self.start_level
        if has_model is None:
            return self.first_start_level.copy()
        return np.where(has_model, self.start_level, self.first_start_level)

    def _pay(self, cost: Costs, who: Mask, count: NDArray[np.int32], counter: str, course: Course) -> None:
        """Debits an action of some clients and counts it."""
        units = who.astype(np.int32)  # widened first: NumPy is far slower with arrays of two types
        np.add(count, units, count)
        units *= cost.each
        np.subtract(self._state.battery, units, self._state.battery)
        course.counts[counter] += int(units.sum(dtype=np.int64))

    def start(self, slot: int, who: Clients, level: NDArray[np.int32], course: Course) -> None:
        """Step 5: debits the whole training, and a download that is still to come; the first batch runs in this slot.

        Args:
            slot: Counted from the beginning of the run.
            who: The clients, shape (n,), intp.
            level: What each client needs to start, shape (N,), int32; changed where a model is downloaded.
            course: Of the epoch.
        """
        state, slots = self._state, self._train_slots.of(who)
        if self._physics.downloads:
            new = who[level[who] > self.start_level[who]]
            state.battery[new] -= self._download.of(new)
            state.downloads[new] += 1
            level[new] = self.start_level[new]
            course.counts["consumed_download"] += self._download.total(new)
        state.battery[who] -= self._train.of(who)
        state.committed[who] = True
        state.free_at[who] = slot + slots
        state.starts[who] += 1
        course.busy.training.add(who, slot - 1 + slots)
        course.counts["starts"] += who.size
        course.counts["consumed_train"] += self._train.total(who)
        course.log(Event("start", slot, who))

    def finish(self, slot: int, course: Course) -> None:
        """Notes whose last batch ran in this slot.

        Args:
            slot: Counted from the beginning of the run.
            course: Of the epoch.
        """
        who = course.busy.finish(slot)
        if who.size:
            course.counts["finishes"] += who.size
            course.log(Event("finish", slot, who))
