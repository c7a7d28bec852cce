"""Who is in training, who waits to send and who sends: it follows from a world's state, and saves searches."""

import numpy as np
from numpy.typing import NDArray

from fallow.simulation.events import Clients
from fallow.simulation.world_state import WorldState

NOBODY: Clients = np.zeros(0, dtype=np.intp)


class Busy:
    """Clients in training, by the slot in which their last batch runs, and clients with an update to send.

    Attributes:
        training: Clients in training, by the slot of their last batch.
        waiting: Clients with a finished update that waits to be sent, shape (n,), intp.
        sending: Clients whose upload is under way, by the slot in which it arrives.
    """

    def __init__(self, state: WorldState, slot: int) -> None:
        """Finds the busy clients in a world's state as a slot begins.

        Args:
            state: Of the world.
            slot: Counted from the beginning of the run.
        """
        self.training, self.sending = Agenda(), Agenda()
        who = state.committed.nonzero()[0]
        if state.arrives_at.size == state.committed.size:
            arrival = state.arrives_at[who]
            self.sending.add(who[arrival >= slot], arrival[arrival >= slot])
            who = who[arrival < slot]
        last = state.free_at[who] - 1
        self.waiting = who[last < slot]
        self.training.add(who[last >= slot], last[last >= slot])

    def finish(self, slot: int) -> Clients:
        """Returns the clients whose last batch ran in a slot, shape (clients,), intp. From now on they wait to send.

        Args:
            slot: Counted from the beginning of the run.
        """
        if slot not in self.training.by_slot:
            return NOBODY
        who = self.training.take(slot)
        self.waiting = _merged([self.waiting, who]) if self.waiting.size else who
        return who

    def send(self, able: NDArray[np.bool_]) -> Clients:
        """Returns the waiting clients that are able to send, shape (n,), intp. They wait no longer.

        Args:
            able: For each of `waiting`, shape (n,), bool.
        """
        who = self.waiting[able]
        self.waiting = self.waiting[~able]
        return who


class Agenda:
    """Clients by the slot in which something of theirs ends.

    Attributes:
        by_slot: Arrays of clients by slot.
    """

    def __init__(self) -> None:
        self.by_slot: dict[int, list[Clients]] = {}

    def add(self, who: Clients, last_slot: int | NDArray[np.int32]) -> None:
        """Adds clients.

        Args:
            who: The clients, shape (clients,), intp.
            last_slot: The slot in which it ends, one for all, or one for each, shape (clients,), int32.
        """
        if isinstance(last_slot, int):
            self.by_slot.setdefault(last_slot, []).append(who)
            return
        for slot in np.unique(last_slot).tolist():
            self.by_slot.setdefault(slot, []).append(who[last_slot == slot])

    def ending(self, slot: int) -> Clients:
        """Returns the clients of a slot in ascending order, shape (clients,), intp.

        Args:
            slot: Counted from the beginning of the run.
        """
        return _merged(self.by_slot.get(slot, []))

    def take(self, slot: int) -> Clients:
        """Returns the clients of a slot in ascending order, shape (clients,), intp, and removes them.

        Args:
            slot: Counted from the beginning of the run.
        """
        parts = self.by_slot.pop(slot, None)
        return NOBODY if parts is None else _merged(parts)


def _merged(parts: list[Clients]) -> Clients:
    """Returns the clients of some arrays in ascending order."""
    if len(parts) == 1:
        return parts[0]
    return np.sort(np.concatenate(parts)) if parts else NOBODY
