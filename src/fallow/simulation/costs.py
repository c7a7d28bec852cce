"""Costs over clients, fast where they are the same for everyone."""

import numpy as np
from numpy.typing import NDArray

from fallow.simulation.events import Clients


class Costs:
    """Units, or slots, of one action for each client.

    Attributes:
        each: Shape (N,), int32.
        common: The one number of all clients; None where they differ.
    """

    def __init__(self, each: NDArray[np.int32]) -> None:
        self.each = each
        self.common = int(each[0]) if not each.strides[0] or (each == each[0]).all() else None

    def of(self, who: Clients) -> int | NDArray[np.int32]:
        """Returns the number of some clients: one for all, or one for each, shape (n,), int32.

        Args:
            who: The clients, shape (n,), intp.
        """
        return self.each[who] if self.common is None else self.common

    def total(self, who: Clients) -> int:
        """Returns the sum over some clients.

        Args:
            who: The clients, shape (n,), intp.
        """
        return int(self.each[who].sum(dtype=np.int64)) if self.common is None else who.size * self.common


def added(units: NDArray[np.int32], more: NDArray[np.int32]) -> NDArray[np.int32]:
    """Returns the sum of two costs, shape (N,), int32; of one number for everyone, one number that is repeated.

    Args:
        units: Shape (N,), int32.
        more: Shape (N,), int32.
    """
    if not units.strides[0] and not more.strides[0]:
        return np.broadcast_to(units[:1] + more[:1], units.shape) if more[0] else units
    return units + more
