"""What an aggregation rule is, and what every rule shares: order, staleness, refusal of broken updates.

An update pulls the model from where it is when the update arrives: its change is w_i − w(t), also when w_i was
trained from an older model. That is what averaging weights does (Alg. 1, lines 20-21), and nobody needs to keep the
model that a training began with. A late update therefore also pulls back towards the model of its start; staleness
weights soften that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from fallow.aggregation.staleness import Constant, Staleness
from fallow.errors import FallowError
from fallow.models.weights import Weights, all_finite

State = TypeVar("State")
"""A rule's memory: None, or a frozen dataclass of arrays and numbers."""


class UpdateError(FallowError):
    """An update can't be aggregated."""


@dataclass(frozen=True, eq=False)
class Update:
    """What the server received.

    Attributes:
        client: From whom.
        slot: The global slot in which its training started.
        weights: w_i.
        data_size: |D_i|.
        staleness: The epoch it arrived in minus the epoch of its start (reading 3).
    """

    client: int
    slot: int
    weights: Weights
    data_size: int
    staleness: int = 0


@dataclass(frozen=True, eq=False)
class Weighed:
    """An update and what its age leaves of its weight, above 0 and at most 1."""

    update: Update
    discount: float


class Aggregation(Protocol[State]):
    """Makes the next model from the updates of an epoch. A frozen dataclass whose fields are its options."""

    def init(self, size: int, data_sizes: NDArray[np.int64]) -> State:
        """Returns the memory before the first epoch.

        Args:
            size: P.
            data_sizes: |D_i| of every client, shape (N,), int64.
        """
        ...

    def combine(self, state: State, weights: Weights, updates: Sequence[Weighed]) -> tuple[State, Weights]:
        """Returns the memory and the weights of the next epoch; must not change its arguments.

        The updates come sorted by client and slot; there may be none.
        """
        ...


AnyAggregation = Aggregation[Any]


def aggregate(
    rule: Aggregation[State],
    state: State,
    weights: Weights,
    updates: Sequence[Update],
    staleness: Staleness | None = None,
) -> tuple[State, Weights]:
    """Makes w(t+1) (Alg. 1, lines 20-21). The order in which the updates are given changes nothing.

    Args:
        rule: How updates are combined.
        state: Its memory.
        weights: w(t).
        updates: All that were received in the epoch.
        staleness: What age leaves of an update's weight; None: all of it.
    """
    staleness = staleness or Constant()
    ordered = sorted(updates, key=lambda update: (update.client, update.slot))
    for update in ordered:
        if not all_finite(update.weights):
            raise UpdateError(
                f"The update of client {update.client} that started in slot {update.slot} has weights that are not "
                "finite numbers, and would spoil the model; drop it, or lower the learning rate."
            )
    weighed = [Weighed(update, staleness.discount(update.staleness)) for update in ordered]
    return rule.combine(state, weights, [one for one in weighed if one.discount > 0])


def moved(weights: Weights, updates: Sequence[Weighed], shares: Sequence[float]) -> Weights:
    """Returns w + Σ share_i · discount_i · (w_i − w), summed in float64, in the order given."""
    base = weights.astype(np.float64)
    total = base.copy()
    for one, share in zip(updates, shares, strict=True):
        total += share * one.discount * (one.update.weights - base)
    return total.astype(np.float32)


def data_shares(updates: Sequence[Weighed]) -> list[float]:
    """Returns β_i: the data sizes, normalised over the updates given (reading 1)."""
    total = sum(one.update.data_size for one in updates)
    return [one.update.data_size / total for one in updates]
