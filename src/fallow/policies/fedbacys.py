"""FedBacys: groups with deadlines; a client starts at the last slot that still meets its group's (reading 15)."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.policies.base import EpochView, Mask, SlotView

GroupCount = Annotated[int, Field(ge=1, description="G: how many groups share an epoch, or a cycle")]
Grouping = Annotated[
    Literal["battery", "fixed"],
    Field(description="groups by battery, fullest first, or for good by client number"),
]
TurnRule = Annotated[
    Literal["within-epoch", "across-epochs"],
    Field(description="every group has its slot in each epoch, or one group a whole epoch"),
]


@dataclass(frozen=True)
class Deadlines:
    """The memory of FedBacys.

    Attributes:
        group: The group of each client, shape (N,), int32.
        start_slot: The slot within the epoch in which each client starts, or else skips its turn, shape (N,), int32.
    """

    group: NDArray[np.int32]
    start_slot: NDArray[np.int32]


@dataclass(frozen=True)
class FedBacys:
    """Groups with deadlines: a client starts at the last slot that still meets its group's.

    Attributes:
        groups: G, how many groups share an epoch, or a cycle of epochs.
        grouping: "battery" groups by battery, fullest first; "fixed" groups by client number.
        turns: "within-epoch" gives every group a slot in each epoch; "across-epochs" gives each group a whole epoch.

    Examples:
        >>> from fallow.policies.check import check_policy
        >>> check_policy(FedBacys(groups=4))
        []
    """

    groups: GroupCount = 5
    grouping: Grouping = "battery"
    turns: TurnRule = "within-epoch"

    def init(self, clients: int) -> Deadlines:
        """Returns the first memory: client i is in group i mod G."""
        group = np.arange(clients, dtype=np.int32) % np.int32(self.groups)
        return Deadlines(group, np.zeros(clients, dtype=np.int32))

    def select(self, state: Deadlines, view: EpochView, rng: np.random.Generator) -> tuple[Deadlines, Mask]:
        """Returns the groups and each client's start slot, and the clients whose turn is in this epoch."""
        across = self.turns == "across-epochs"
        turn = view.epoch % self.groups
        group = state.group
        if self.grouping == "battery" and not (across and turn > 0):
            group = self._by_battery(view.battery, rng.random(view.clients))
        if across:
            selected = group == turn
            start_slot = np.maximum(view.slots_per_epoch - 1 - view.train_cost, 0)
        else:
            selected = np.ones(view.clients, dtype=np.bool_)
            start_slot = group * np.maximum(view.slots_per_epoch - view.train_cost, 0) // self.groups
        return Deadlines(group, start_slot.astype(np.int32)), selected

    def start(self, state: Deadlines, view: SlotView) -> tuple[Deadlines, Mask]:
        """Returns the ready clients whose start slot this is."""
        return state, view.ready & (state.start_slot == view.slot_in_epoch)

    def _by_battery(self, battery: NDArray[np.int32], tie: NDArray[np.float64]) -> NDArray[np.int32]:
        fullest_first = np.lexsort((tie, -battery))
        group = np.empty(battery.size, dtype=np.int32)
        group[fullest_first] = np.arange(battery.size) * self.groups // battery.size
        return group
