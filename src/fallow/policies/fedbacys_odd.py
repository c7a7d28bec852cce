"""FedBacys-Odd: FedBacys that skips every second chance to save energy (reading 16)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fallow.policies.base import EpochView, Mask, SlotView
from fallow.policies.fedbacys import Deadlines, FedBacys, GroupCount, Grouping, TurnRule


@dataclass(frozen=True)
class Chances:
    """The memory of FedBacys-Odd.

    Attributes:
        deadlines: The memory of FedBacys.
        met: How often each client could have started so far, shape (N,), int32.
    """

    deadlines: Deadlines
    met: NDArray[np.int32]


@dataclass(frozen=True)
class FedBacysOdd:
    """FedBacys on the 1st, 3rd, 5th… chance of each client.

    Attributes:
        groups: G, how many groups share an epoch, or a cycle of epochs.
        grouping: "battery" groups by battery, fullest first; "fixed" groups by client number.
        turns: "within-epoch" gives every group a slot in each epoch; "across-epochs" gives each group a whole epoch.

    Examples:
        >>> from fallow.policies.check import check_policy
        >>> check_policy(FedBacysOdd(groups=4))
        []
    """

    groups: GroupCount = 5
    grouping: Grouping = "battery"
    turns: TurnRule = "within-epoch"

    def init(self, clients: int) -> Chances:
        """Returns the first memory: no client has had a chance yet."""
        return Chances(self._fedbacys().init(clients), np.zeros(clients, dtype=np.int32))

    def select(self, state: Chances, view: EpochView, rng: np.random.Generator) -> tuple[Chances, Mask]:
        """Returns the memory and the clients that FedBacys would select."""
        deadlines, selected = self._fedbacys().select(state.deadlines, view, rng)
        return Chances(deadlines, state.met), selected

    def start(self, state: Chances, view: SlotView) -> tuple[Chances, Mask]:
        """Returns the memory with the new chances counted, and the clients whose chance has an odd number."""
        deadlines, chance = self._fedbacys().start(state.deadlines, view)
        met = state.met + chance
        return Chances(deadlines, met), chance & (met % 2 == 1)

    def _fedbacys(self) -> FedBacys:
        return FedBacys(self.groups, self.grouping, self.turns)
