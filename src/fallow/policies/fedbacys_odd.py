"""FedBacys-Odd: FedBacys that skips every second chance to save energy (reading 16).

Source: E. Jeong, N. Pappas, "Computation-aware Energy-harvesting Federated Learning: Cyclic Scheduling with Selective
Participation", arXiv 2511.11949, as descriptions of it have it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fallow.policies.base import EpochView, Mask, SlotView
from fallow.policies.fedbacys import Deadlines, FedBacys, GroupCount, Grouping, TurnRule, slots_since_start


@dataclass(frozen=True)
class Chances:
    """The memory of FedBacys-Odd.

    Attributes:
        deadlines: The memory of FedBacys.
        met: In how many windows each client could have started so far, shape (N,), int32.
        counted: The slot, counted from the run's first, in which the last window that was counted began, shape (N,),
            int64.
    """

    deadlines: Deadlines
    met: NDArray[np.int32]
    counted: NDArray[np.int64]


@dataclass(frozen=True)
class FedBacysOdd:
    """FedBacys on the 1st, 3rd, 5th… chance of each client, one chance a window.

    Attributes:
        groups: G, how many groups share an epoch, or a cycle of epochs.
        grouping: "battery" groups by battery, fullest first; "fixed" groups by client number.
        turns: "window" lets group g start in the slots s with gR ≤ (s+κ) mod S < (g+1)R − 1, where R = ⌊S/G⌋;
            "deadline" gives every group one slot in each epoch; "across-epochs" gives each group a whole epoch.

    Examples:
        >>> from fallow.policies.check import check_policy
        >>> check_policy(FedBacysOdd(groups=4))
        []
    """

    groups: GroupCount = 5
    grouping: Grouping = "battery"
    turns: TurnRule = "window"

    def init(self, clients: int) -> Chances:
        """Returns the first memory: no client has had a chance yet."""
        never = np.full(clients, np.iinfo(np.int64).min, dtype=np.int64)
        return Chances(self._fedbacys().init(clients), np.zeros(clients, dtype=np.int32), never)

    def select(self, state: Chances, view: EpochView, rng: np.random.Generator) -> tuple[Chances, Mask]:
        """Returns the memory and the clients that FedBacys would select."""
        deadlines, selected = self._fedbacys().select(state.deadlines, view, rng)
        return Chances(deadlines, state.met, state.counted), selected

    def start(self, state: Chances, view: SlotView) -> tuple[Chances, Mask]:
        """Returns the memory with the new chances counted, and the clients whose chance has an odd number."""
        deadlines, chance = self._fedbacys().start(state.deadlines, view)
        now = deadlines.epoch.astype(np.int64) * view.slots_per_epoch + view.slot_in_epoch
        window = now - slots_since_start(deadlines, view)
        # Reading 16: one chance a window. Counted by slots, the slot after a skipped one would be odd again.
        new = chance & (window != state.counted)
        met = state.met + new
        return Chances(deadlines, met, np.where(new, window, state.counted)), new & (met % 2 == 1)

    def _fedbacys(self) -> FedBacys:
        return FedBacys(self.groups, self.grouping, self.turns)
