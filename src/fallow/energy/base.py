"""What an energy model is: the units that each client harvests in each slot of an epoch."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from numpy.typing import NDArray

Units = NDArray[Any]
"""Units harvested in one slot, shape (N,); whole numbers (any integer type) or bool, never negative."""

Harvest = Callable[[int], Iterable[Units]]
"""From an epoch to its S slots: an array of shape (S, N), or an iterator of S rows."""


class EnergyModel(Protocol):
    """Where the energy comes from. A frozen dataclass whose fields are its options."""

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Harvest:
        """Reads and checks what the model needs, before anything runs, and returns the harvest.

        The harvest is a function of the epoch alone: asked twice, it answers the same.
        """
        ...
