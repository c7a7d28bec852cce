"""How often and when each client took part and delivered, for policies that declare it."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fallow.policies import Mask
from fallow.simulation.events import Event

Counts = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Participation:
    """What is known of each client's part in the run, before an epoch.

    Attributes:
        selections: Epochs in which each client was selected, shape (N,), int32.
        deliveries: Epochs in which an update of each client went into the model, shape (N,), int32.
        last_selected: The last epoch in which each client was selected, shape (N,), int32; −1 for never.
        last_delivered: The last epoch in which it delivered, shape (N,), int32; −1 for never.
        last_staleness: How many epochs late that update was, shape (N,), int32; −1 where there was none.
    """

    selections: Counts
    deliveries: Counts
    last_selected: Counts
    last_delivered: Counts
    last_staleness: Counts

    @classmethod
    def first(cls, clients: int) -> "Participation":
        """Returns what is known before the first epoch: nothing.

        Args:
            clients: N.
        """
        zero, never = np.zeros(clients, dtype=np.int32), np.full(clients, -1, dtype=np.int32)
        return cls(zero, zero.copy(), never, never.copy(), never.copy())

    def after(self, epoch: int, selected: Mask, delivered: Mask, events: Iterable[Event]) -> "Participation":
        """Returns what is known after an epoch.

        Args:
            epoch: t.
            selected: Who was selected, shape (N,), bool.
            delivered: Whose update went into the model, shape (N,), bool.
            events: What happened in the epoch, uploads included.

        Examples:
            >>> both, one = np.array([True, True]), np.array([True, False])
            >>> upload = Event("upload", 31, np.array([0]), np.array([1], dtype=np.int32))
            >>> known = Participation.first(2).after(1, both, one, [upload])
            >>> known.selections.tolist(), known.deliveries.tolist(), known.last_staleness.tolist()
            ([1, 1], [1, 0], [1, -1])
        """
        last_staleness = self.last_staleness.copy()
        for event in events:
            if event.kind == "upload" and event.staleness is not None:
                used = delivered[event.clients]
                last_staleness[event.clients[used]] = event.staleness[used]
        return Participation(
            selections=self.selections + selected,
            deliveries=self.deliveries + delivered,
            last_selected=np.where(selected, np.int32(epoch), self.last_selected),
            last_delivered=np.where(delivered, np.int32(epoch), self.last_delivered),
            last_staleness=last_staleness,
        )
