"""The slots of one epoch: harvest, train, upload, select, start. The physics is enforced here and nowhere else.

The order within a slot is that of ``docs/reading-the-paper.md``; all clients at once, NumPy only.
"""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from fallow.arrays import frozen_copy
from fallow.energy import Physics, Units, checked_units
from fallow.errors import EnergyError, PhysicsError
from fallow.policies import Mask, SlotView, checked_mask
from fallow.simulation.events import Clients, Event, Happenings


class World:
    """All batteries and what their owners are doing. It owns its arrays and changes them in place.

    Attributes:
        battery: E_i, shape (N,), int32.
        committed: In training or with an unsent update, shape (N,), bool.
        free_at: The first slot after a client's latest training, shape (N,), int32.
        harvested: Units since the beginning, shape (N,), int64; likewise overflow.
        starts: How often since the beginning, shape (N,), int32; likewise uploads and probes.
    """

    STATE = ("battery", "committed", "free_at", "harvested", "overflow", "starts", "uploads", "probes")
    """The arrays that make up the state of a world: with them restored, it goes on as if nothing had happened."""

    def __init__(self, physics: Physics) -> None:
        self.physics = physics
        clients = physics.clients
        self.battery: NDArray[np.int32] = physics.initial.copy()
        self.committed = np.zeros(clients, dtype=np.bool_)
        self.free_at = np.zeros(clients, dtype=np.int32)
        self.harvested = np.zeros(clients, dtype=np.int64)
        self.overflow = np.zeros(clients, dtype=np.int64)
        self.starts = np.zeros(clients, dtype=np.int32)
        self.uploads = np.zeros(clients, dtype=np.int32)
        self.probes = np.zeros(clients if physics.probe_cost else 1, dtype=np.int32)

    def advance(
        self,
        epoch: int,
        harvest: Iterable[Units],
        select: Callable[[Mask], Mask],
        start: Callable[[SlotView], Mask] | None = None,
        *,
        record_events: bool = True,
        watch: Callable[[int, "World"], None] | None = None,
    ) -> Happenings:
        """Lives through the S slots of an epoch.

        Args:
            epoch: t.
            harvest: S rows of units, each of shape (N,).
            select: Called once, in the first slot after harvest and uploads, with the clients that paid for their
                probe; returns the participants, shape (N,), bool.
            start: Called in every slot; narrows the clients that may start. Without it all of them do.
            record_events: Whether to list what happened to whom.
            watch: Called at the end of every slot with the slot; for tests and pictures.

        Returns:
            The epoch in numbers. The energy books are balanced for every client before it returns.
        """
        physics, clients = self.physics, self.physics.clients
        nobody = np.zeros(clients, dtype=np.bool_)
        now = Happenings(selected=nobody, delivered=nobody.copy())
        harvested_before, overflow_before = int(self.harvested.sum()), int(self.overflow.sum())
        started = np.zeros(clients, dtype=np.int32) if physics.starts_per_epoch else None
        log = now.events.append if record_events else None
        slots = 0
        for slots, units in enumerate(harvest, start=1):
            slot_in_epoch = slots - 1
            slot = epoch * physics.slots_per_epoch + slot_in_epoch
            self._harvest(units)
            idle = ~self.committed  # before the uploads: who uploads may not start in the same slot (T + L ≤ 1)
            if not physics.ideal:
                self._upload(slot, now, log)
            if slot_in_epoch == 0:
                paid = self._pay_probes(now)
                now.selected = checked_mask(select(paid), clients, "select")
                if log:
                    log(("select", slot, np.flatnonzero(now.selected), None))
            if physics.ideal:
                self._pretend(slot_in_epoch, slot, now, log)
            else:
                ready = now.selected & idle
                ready &= self.battery >= physics.train_cost
                if started is not None:
                    ready &= started < physics.starts_per_epoch
                if start is not None:
                    view = SlotView(slot_in_epoch, frozen_copy(self.battery), frozen_copy(ready))
                    ready = ready & checked_mask(start(view), clients, "start")
                who = self._start(slot, ready, now, log)
                if started is not None:
                    started[who] += 1
                self._finish(slot, now, log)
            if watch:
                watch(slot, self)
        if slots != physics.slots_per_epoch:
            raise EnergyError(f"The energy model gave {slots} slots for an epoch of {physics.slots_per_epoch}.")
        now.harvested = int(self.harvested.sum()) - harvested_before
        now.overflow = int(self.overflow.sum()) - overflow_before
        self.balance_books()
        return now

    def training(self, slot: int) -> Mask:
        """Returns who is in training in a slot, shape (N,), bool."""
        return self.committed & (self.free_at > slot)

    def unsent(self, slot: int) -> Mask:
        """Returns who has a finished update that waits to be sent, shape (N,), bool."""
        return self.committed & (self.free_at <= slot)

    def balance_books(self) -> None:
        """Checks for every client that harvested = consumed + change of stored + overflow, and 0 ≤ stored ≤ E_max."""
        physics = self.physics
        stored = physics.initial + self.harvested
        stored -= self.overflow
        if not physics.ideal:
            stored -= np.multiply(self.starts, physics.train_cost, dtype=np.int64)
            stored -= np.multiply(self.uploads, physics.transmit_cost, dtype=np.int64)
        stored -= np.multiply(self.probes, physics.probe_cost, dtype=np.int64)
        wrong = np.flatnonzero((stored != self.battery) | (stored < 0) | (stored > physics.capacity))
        if wrong.size:
            client = int(wrong[0])
            raise PhysicsError(
                f"The energy books of {wrong.size} clients do not balance: client {client} should store "
                f"{stored[client]} units and stores {self.battery[client]}. This is a bug in Fallow; please report it."
            )

    def _harvest(self, units: Units) -> None:
        """Step 1: E ← min(E + C, E_max)."""
        gain = checked_units(units, self.battery.size)
        self.harvested += gain
        self.battery += gain
        excess = np.subtract(self.battery, self.physics.capacity, out=gain)
        np.maximum(excess, 0, out=excess)
        self.battery -= excess
        self.overflow += excess

    def _upload(self, slot: int, now: Happenings, log: Callable[[Event], None] | None) -> None:
        """Steps 2 and 3: who is not in training and has an unsent update sends it, energy permitting."""
        sends = self.unsent(slot)
        sends &= self.battery >= self.physics.transmit_cost
        who = np.flatnonzero(sends)
        if not who.size:
            return
        self.battery[who] -= self.physics.transmit_cost
        self.committed[who] = False
        self.uploads[who] += 1
        now.delivered[who] = True
        epochs = self.physics.slots_per_epoch
        staleness = slot // epochs - (self.free_at[who] - self.physics.train_cost[who]) // epochs
        now.uploads += who.size
        now.stale_uploads += int(np.count_nonzero(staleness))
        if log:
            log(("upload", slot, who, staleness.astype(np.int32)))

    def _pay_probes(self, now: Happenings) -> Mask:
        """Step 4, before the selection: who can pay for a probe does (reading 11). Returns who has one."""
        cost = self.physics.probe_cost
        if not cost:
            return np.broadcast_to(np.True_, self.physics.clients)
        paid = self.battery >= cost
        self.battery[paid] -= cost
        self.probes += paid
        now.probes = int(np.count_nonzero(paid))
        return paid

    def _start(self, slot: int, ready: Mask, now: Happenings, log: Callable[[Event], None] | None) -> Clients:
        """Step 5: debit the whole training; its first batch runs in this slot."""
        who = np.flatnonzero(ready)
        if who.size:
            cost = self.physics.train_cost[who]
            self.battery[who] -= cost
            self.committed[who] = True
            self.free_at[who] = slot + cost
            self.starts[who] += 1
            now.starts += who.size
            now.consumed_train += int(cost.sum(dtype=np.int64))
            if log:
                log(("start", slot, who, None))
        return who

    def _finish(self, slot: int, now: Happenings, log: Callable[[Event], None] | None) -> None:
        """Notes whose last batch ran in this slot."""
        who = np.flatnonzero(self.committed & (self.free_at == slot + 1))
        now.finishes += who.size
        if log and who.size:
            log(("finish", slot, who, None))

    def _pretend(self, slot_in_epoch: int, slot: int, now: Happenings, log: Callable[[Event], None] | None) -> None:
        """Starts everyone in the first slot of an ideal epoch and delivers in its last, free of charge."""
        who = np.flatnonzero(now.selected)
        if slot_in_epoch == 0:
            self.starts[who] += 1
            now.starts = who.size
            if log:
                log(("start", slot, who, None))
        if slot_in_epoch == self.physics.slots_per_epoch - 1:
            self.uploads[who] += 1
            now.delivered[who] = True
            now.finishes = now.uploads = who.size
            if log:
                log(("finish", slot, who, None))
                log(("upload", slot, who, np.zeros(who.size, dtype=np.int32)))
