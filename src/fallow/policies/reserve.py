"""Reserve: start only with the energy to send as well, and in time to arrive in the same epoch.

A client that trains as soon as it can has nothing left to send with, and its update comes late. With the reserve an
update costs the same energy, and none is late. The rule narrows when a client starts, so it goes with any selection.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.policies.base import AnyPolicy, EpochView, Mask, Needs, SlotView, Starter, Weigher, needs_of
from fallow.policies.fedavg import FedAvg


def with_reserve(view: SlotView) -> Mask:
    """Returns the ready clients that can also send, and whose update arrives in this epoch, shape (N,), bool.

    A training that starts in slot s of the epoch fills the slots s … s+κ−1; its update can be sent from slot s+κ on.

    Args:
        view: What a policy sees in the slot.

    Examples:
        >>> ready, one, cost = np.array([True, True]), np.array([1, 1]), np.array([20, 20])
        >>> battery = np.array([20, 21])
        >>> [with_reserve(SlotView(slot, battery, ready, 30, cost, one, cost, one)).tolist() for slot in (9, 10)]
        [[False, True], [False, False]]
    """
    affordable = view.battery >= view.train_cost + view.transmit_cost
    in_time = view.slot_in_epoch + view.train_slots + view.transmit_slots <= view.slots_per_epoch
    return view.ready & affordable & in_time


@dataclass(frozen=True)
class Reserve:
    """Every client is selected, and starts only if it can also send, in time to arrive in the same epoch.

    Examples:
        >>> from fallow.policies.check import check_policy
        >>> check_policy(Reserve())
        []
    """

    def init(self, clients: int) -> None:
        """Returns None: the policy has no memory."""

    def select(self, state: None, view: EpochView, rng: np.random.Generator) -> tuple[None, Mask]:
        """Returns everyone."""
        return FedAvg().select(state, view, rng)

    def start(self, state: None, view: SlotView) -> tuple[None, Mask]:
        """Returns the ready clients that can also send, in time."""
        return state, with_reserve(view)


@dataclass(frozen=True)
class Reserving:
    """Another policy, whose clients start only if they can also send, in time to arrive in the same epoch.

    Attributes:
        of: The policy that selects. Its own `start`, if it has one, is asked about the clients that the reserve leaves.

    Examples:
        >>> from fallow.policies import VAoI
        >>> from fallow.policies.check import check_policy
        >>> check_policy(Reserving(VAoI(k=5)))
        []
    """

    of: AnyPolicy

    @property
    def needs(self) -> Needs:
        """What the other policy needs."""
        return needs_of(self.of)

    def init(self, clients: int) -> Any:
        """Returns the first memory of the other policy."""
        return self.of.init(clients)

    def select(self, state: Any, view: EpochView, rng: np.random.Generator) -> tuple[Any, Mask]:
        """Returns what the other policy selects."""
        return self.of.select(state, view, rng)

    def start(self, state: Any, view: SlotView) -> tuple[Any, Mask]:
        """Returns the clients that the reserve leaves, and of them those that the other policy starts."""
        ready = with_reserve(view)
        if not isinstance(self.of, Starter):
            return state, ready
        ready.setflags(write=False)
        return self.of.start(state, replace(view, ready=ready))

    def importance(self, state: Any) -> NDArray[np.float64]:
        """Returns how much each update counts for the other policy; 1 for everyone if it does not say."""
        return self.of.importance(state) if isinstance(self.of, Weigher) else np.array(1.0)
