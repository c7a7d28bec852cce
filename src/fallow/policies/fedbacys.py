"""FedBacys: groups with windows; a client starts so late that its training ends in its group's (reading 15).

Source: E. Jeong, N. Pappas, "Battery-aware Cyclic Scheduling in Energy-harvesting Federated Learning",
arXiv 2504.12181, as descriptions of that paper have it: G groups by battery, R = ⌊S/G⌋ slots each; a client of group g
starts if it has the energy, nothing unsent, and gR ≤ (s+κ) mod S < (g+1)R − 1. Not found there, so ours: G = 5, and
that groups are formed each epoch. What a hub passes on from group to group is not modelled.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from fallow.policies.base import EpochView, Mask, SlotView

Slots = NDArray[np.int32]
GroupCount = Annotated[int, Field(ge=1, description="G: how many groups share an epoch, or a cycle")]
Grouping = Annotated[
    Literal["battery", "fixed"],
    Field(description="groups by battery, fullest first, or for good by client number"),
]


def _with_its_new_name(turns: object) -> object:
    """Returns `turns`; says the new name of a rule that was renamed."""
    if turns == "within-epoch":
        raise PydanticCustomError("renamed", "is called 'deadline' now, and the default is 'window'")
    return turns


TurnRule = Annotated[
    Literal["window", "deadline", "across-epochs"],
    BeforeValidator(_with_its_new_name),
    Field(description="a window to start in, or one slot, for every group in each epoch; or one group a whole epoch"),
]


@dataclass(frozen=True)
class Deadlines:
    """The memory of FedBacys.

    Attributes:
        group: The group of each client, shape (N,), int32.
        start_slot: The first slot within the epoch in which each client may start, shape (N,), int32.
        slots: In how many slots from there on it may, over the epoch's edge if need be, shape (N,), int32.
        epoch: t, the epoch that this was written for, shape (N,), int32.
    """

    group: NDArray[np.int32]
    start_slot: NDArray[np.int32]
    slots: NDArray[np.int32]
    epoch: NDArray[np.int32]


@dataclass(frozen=True)
class FedBacys:
    """Groups with deadlines: a client starts so late that its training ends in its group's window.

    Attributes:
        groups: G, how many groups share an epoch, or a cycle of epochs.
        grouping: "battery" groups by battery, fullest first; "fixed" groups by client number.
        turns: "window" lets group g start in the slots s with gR ≤ (s+κ) mod S < (g+1)R − 1, where R = ⌊S/G⌋;
            "deadline" gives every group one slot in each epoch; "across-epochs" gives each group a whole epoch.

    Examples:
        >>> from fallow.policies.check import check_policy
        >>> check_policy(FedBacys(groups=4))
        []
    """

    groups: GroupCount = 5
    grouping: Grouping = "battery"
    turns: TurnRule = "window"

    def init(self, clients: int) -> Deadlines:
        """Returns the first memory: client i is in group i mod G."""
        group = np.arange(clients, dtype=np.int32) % np.int32(self.groups)
        none = np.zeros(clients, dtype=np.int32)
        return Deadlines(group, none, none.copy(), none.copy())

    def select(self, state: Deadlines, view: EpochView, rng: np.random.Generator) -> tuple[Deadlines, Mask]:
        """Returns the groups and each client's start slots, and the clients whose turn is in this epoch."""
        across = self.turns == "across-epochs"
        turn = view.epoch % self.groups
        group = state.group
        if self.grouping == "battery" and not (across and turn > 0):
            group = self._by_battery(view.battery, rng.random(view.clients))
        selected = group == turn if across else np.ones(view.clients, dtype=np.bool_)
        start_slot, slots = self._start_slots(group, view.slots_per_epoch, view.train_slots)
        epoch = np.full(view.clients, view.epoch, dtype=np.int32)
        return Deadlines(group, start_slot.astype(np.int32), slots.astype(np.int32), epoch), selected

    def start(self, state: Deadlines, view: SlotView) -> tuple[Deadlines, Mask]:
        """Returns the ready clients that may start in this slot."""
        return state, view.ready & (slots_since_start(state, view) < state.slots)

    def _start_slots(self, group: Slots, slots: int, train_slots: Slots) -> tuple[Slots, Slots]:
        """Returns the first slot within the epoch in which each client may start, and in how many it may."""
        one = np.ones_like(group)
        if self.turns == "across-epochs":
            return np.maximum(slots - 1 - train_slots, 0), one
        if self.turns == "deadline":
            # In 64 bits: many groups times many slots are more than 32 hold.
            late = group.astype(np.int64) * np.maximum(slots - train_slots, 0) // self.groups
            return late.astype(np.int32), one
        # Reading 15: the window has R − 1 slots. Ours: it has one where R is 1, and where G > S groups share slots.
        share = max(slots // self.groups, 1)
        return (group * share - train_slots) % slots, one * max(share - 1, 1)

    def _by_battery(self, battery: Slots, tie: NDArray[np.float64]) -> Slots:
        fullest_first = np.lexsort((tie, -battery))
        group = np.empty(battery.size, dtype=np.int32)
        group[fullest_first] = np.arange(battery.size) * self.groups // battery.size
        return group


def slots_since_start(state: Deadlines, view: SlotView) -> Slots:
    """Returns how many slots ago each client's start slot was, from 0 to S−1, shape (N,), int32.

    A window over the epoch's edge goes on in the next epoch for the clients that are then in its group (reading 15).

    Args:
        state: The memory.
        view: The slot.
    """
    return np.asarray((view.slot_in_epoch - state.start_slot) % view.slots_per_epoch, dtype=np.int32)
