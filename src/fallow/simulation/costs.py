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

    def __bool__(self) -> bool:
        """Whether anybody pays anything."""
        return self.common != 0

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
