"""FedBacys-Odd: FedBacys that lets every other chance pass to save energy (reading 16)."""

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
        met: How often each client could have started, shape (N,), int32.
    """

    deadlines: Deadlines
    met: NDArray[np.int32]


@dataclass(frozen=True)
class FedBacysOdd:
    """FedBacys on the 1st, 3rd, 5th… chance of each client."""

    groups: GroupCount = 5
    grouping: Grouping = "battery"
    turns: TurnRule = "within-epoch"

    def init(self, clients: int) -> Chances:
        """Nobody has had a chance yet."""
        return Chances(self._fedbacys().init(clients), np.zeros(clients, dtype=np.int32))

    def select(self, state: Chances, view: EpochView, rng: np.random.Generator) -> tuple[Chances, Mask]:
        """Selects as FedBacys does."""
        deadlines, selected = self._fedbacys().select(state.deadlines, view, rng)
        return Chances(deadlines, state.met), selected

    def start(self, state: Chances, view: SlotView) -> tuple[Chances, Mask]:
        """Counts the chance, then takes it if its number is odd."""
        deadlines, chance = self._fedbacys().start(state.deadlines, view)
        met = state.met + chance
        return Chances(deadlines, met), chance & (met % 2 == 1)

    def _fedbacys(self) -> FedBacys:
        return FedBacys(self.groups, self.grouping, self.turns)
