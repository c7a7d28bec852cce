"""Who is in training and who waits to send: it follows from a world's state, and saves a search in every slot."""

import numpy as np
from numpy.typing import NDArray

from fallow.simulation.events import Clients
from fallow.simulation.world_state import WorldState

NOBODY: Clients = np.zeros(0, dtype=np.intp)


class Busy:
    """Clients in training, by the slot in which their last batch runs, and clients with an update to send.

    Attributes:
        waiting: Clients with a finished update that waits to be sent, shape (n,), intp.
    """

    def __init__(self, state: WorldState, slot: int) -> None:
        """Finds the busy clients in a world's state as a slot begins.

        Args:
            state: Of the world.
            slot: Counted from the beginning of the run.
        """
        who = state.committed.nonzero()[0]
        last = state.free_at[who] - 1
        self.waiting = who[last < slot]
        self._by_last_slot: dict[int, list[Clients]] = {}
        self.add(who[last >= slot], last[last >= slot])

    def add(self, who: Clients, last_slot: int | NDArray[np.int32]) -> None:
        """Adds clients that are in training.

        Args:
            who: The clients, shape (clients,), intp.
            last_slot: The slot of their last batch, one for all, or one for each, shape (clients,), int32.
        """
        if isinstance(last_slot, int):
            self._by_last_slot.setdefault(last_slot, []).append(who)
            return
        for slot in np.unique(last_slot).tolist():
            self._by_last_slot.setdefault(slot, []).append(who[last_slot == slot])

    def finishing(self, slot: int) -> Clients:
        """Returns the clients whose last batch runs in a slot, shape (clients,), intp.

        Args:
            slot: Counted from the beginning of the run.
        """
        return _merged(self._by_last_slot.get(slot, []))

    def finish(self, slot: int) -> Clients:
        """Returns the clients whose last batch ran in a slot, shape (clients,), intp. From now on they wait to send.

        Args:
            slot: Counted from the beginning of the run.
        """
        parts = self._by_last_slot.pop(slot, None)
        if parts is None:
            return NOBODY
        who = _merged(parts)
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


def _merged(parts: list[Clients]) -> Clients:
    """Returns the clients of some arrays in ascending order."""
    if len(parts) == 1:
        return parts[0]
    return np.sort(np.concatenate(parts)) if parts else NOBODY
