"""One epoch of the world: opened, under way, and over."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fallow.errors import EnergyError
from fallow.policies import Mask
from fallow.simulation.busy import Busy
from fallow.simulation.counters import Counters
from fallow.simulation.events import Clients, Event


@dataclass(eq=False)
class Course:
    """An epoch under way; only the world changes it.

    Attributes:
        busy: Who is in training, and who waits to send.
        harvest: Lives through the harvest of one more slot each time it is asked.
        before: What the books came to before the epoch, over all clients, by the names of `Counters`.
        delivered: Clients of whom an update was received so far, shape (N,), bool.
        events: What happened to whom so far, in order; None where nobody asks for it.
        counts: What was counted so far, by the names of `Counters`.
    """

    busy: Busy
    harvest: Iterator[bool]
    before: dict[str, int]
    delivered: Mask
    events: list[Event] | None
    counts: dict[str, int]

    def log(self, event: Event) -> None:
        """Adds an event, if events are recorded.

        Args:
            event: What happened, to whom.
        """
        if self.events is not None:
            self.events.append(event)

    def live_through_harvest(self, slot_in_epoch: int, slots_per_epoch: int) -> None:
        """Harvests in one more slot.

        Args:
            slot_in_epoch: The slot, from 0; so many slots have passed.
            slots_per_epoch: S.

        Raises:
            EnergyError: The energy model has no more slots.
        """
        if not next(self.harvest, False):
            raise EnergyError(f"The energy model gave {slot_in_epoch} slots for an epoch of {slots_per_epoch}.")


@dataclass(frozen=True, eq=False)
class OpenEpoch:
    """An epoch in its first slot, after harvest, uploads and probes, and before the selection.

    Attributes:
        slot: Its first slot, counted from the beginning of the run.
        paid: Clients that paid for their probe, or for whom it is free, shape (N,), bool.
        finishing: Clients in training whose last batch runs in this slot, shape (n,), intp.
        sent: Clients whose update is received in this slot, shape (n,), intp.
        reached: Clients that hear the server in this epoch; only they may start, shape (N,), bool.
        start_level: Units that must be in the battery for a start, cut-off and download included, shape (N,), int32.
        course: The rest of the epoch; only the world uses it.
    """

    slot: int
    paid: Mask
    finishing: Clients
    sent: Clients
    reached: Mask
    start_level: NDArray[np.int32]
    course: Course = field(repr=False)


@dataclass(frozen=True, eq=False)
class LivedEpoch:
    """What happened in an epoch.

    Attributes:
        counters: Sums over all clients; `energy_total` is not the world's to count.
        selected: The participants 𝒩(t), shape (N,), bool.
        delivered: Clients of whom an update was received, shape (N,), bool.
        events: What happened to whom, in order; empty where nobody asked for it.
    """

    counters: Counters
    selected: Mask
    delivered: Mask
    events: list[Event]
