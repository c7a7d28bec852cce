"""What an aggregation rule is, and what every rule shares: order, staleness, the check of updates.

An update can be used in two ways. Averaging weights, as in the paper (Alg. 1, lines 20-21), pulls the model towards
w_i: by w_i − w(t), where w(t) is the model when the update arrives. So a late update also pulls it back towards the
model that its training began with; staleness weights reduce that. Adding changes moves it by what the training itself
changed, Δ_i = w_i − w(its start), whenever it arrives.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.aggregation.staleness import Constant, Staleness, discount_of
from fallow.errors import FallowError, PluginError
from fallow.models.weights import Weights, all_finite
from fallow.plugins.calls import call, is_ours
from fallow.plugins.returned import plain_array
from fallow.state import to_arrays

State = TypeVar("State")
"""A rule's memory: None, or a frozen dataclass of arrays and numbers."""


class UpdateError(FallowError):
    """An update can't be aggregated."""


@dataclass(frozen=True, eq=False)
class Update:
    """An update that the server received.

    Attributes:
        client: The client that sent it.
        slot: The global slot in which its training started.
        weights: w_i, shape (P,), float32.
        start: The weights that its training began with, shape (P,), float32.
        data_size: |D_i|, the samples of the client.
        staleness: The epoch in which it arrived minus the epoch in which its training started (reading 3).
        importance: What every rule multiplies its pull or change with, after the share that its data size gives it;
            a policy that chooses some clients more often than others evens it out with this.

    Examples:
        >>> began = np.array([1, 1], dtype=np.float32)
        >>> Update(0, 0, began + 2, began, data_size=100).change
        array([2., 2.], dtype=float32)
    """

    client: int
    slot: int
    weights: Weights
    start: Weights
    data_size: int
    staleness: int = 0
    importance: float = 1.0

    @property
    def change(self) -> Weights:
        """Δ_i = w_i − w(its start), what its training changed, shape (P,), float32."""
        return self.weights - self.start


@dataclass(frozen=True, eq=False)
class Weighed:
    """An update with its staleness weight.

    Attributes:
        update: The update.
        discount: The part of its weight that its age leaves, above 0 and at most 1.
    """

    update: Update
    discount: float

    @property
    def factor(self) -> float:
        """What its pull or its change is multiplied with: discount · importance."""
        return self.discount * self.update.importance


class Aggregation(Protocol[State]):
    """Computes the next model from the updates of an epoch. A frozen dataclass whose fields are its options."""

    def init(self, size: int, data_sizes: NDArray[np.int64]) -> State:
        """Returns the memory before the first epoch.

        Args:
            size: P, the number of the model's parameters.
            data_sizes: |D_i| of every client, shape (N,), int64.
        """
        ...

    def combine(self, state: State, weights: Weights, updates: Sequence[Weighed]) -> tuple[State, Weights]:
        """Returns the memory and the weights of the next epoch.

        A rule of your own gets copies of all weights, and may work in place. The memory that it was given must stay as
        it is.

        Args:
            state: The memory.
            weights: w(t), shape (P,), float32.
            updates: The updates received, sorted by client and slot; there may be none.

        Returns:
            The new memory and w(t+1), shape (P,), float32.
        """
        ...


AnyAggregation = Aggregation[Any]


@runtime_checkable
class Resizing(Protocol[State]):
    """A rule whose memory can follow clients that come later, as in a federation of real nodes."""

    def resize(self, state: State, data_sizes: NDArray[np.int64]) -> State:
        """Returns the memory for clients that came, or whose data changed.

        Args:
            state: The memory.
            data_sizes: |D_i| of every client, those known before first, shape (N,), int64.
        """
        ...


def first_memory(rule: Aggregation[State], size: int, data_sizes: NDArray[np.int64]) -> State:
    """Returns the memory of a rule before the first epoch, after a check that a checkpoint can keep it.

    Args:
        rule: The rule.
        size: P, the number of the model's parameters.
        data_sizes: |D_i| of every client, shape (N,), int64.

    Raises:
        PluginError: A rule that is not Fallow's failed.
        StateError: A checkpoint can't keep the memory.
    """
    if is_ours(rule):
        return rule.init(size, data_sizes)
    part = f"The aggregation rule '{type(rule).__name__}'"
    state: State = call(part, "init", rule.init, size, data_sizes.copy())
    to_arrays(state)
    return state


By = Annotated[
    Literal["weights", "changes"],
    Field(description="pull towards weights, as in the paper, or add what trainings changed"),
]


def aggregate(
    rule: Aggregation[State],
    state: State,
    weights: Weights,
    updates: Sequence[Update],
    staleness: Staleness | None = None,
) -> tuple[State, Weights]:
    """Returns the rule's memory and w(t+1) (Alg. 1, lines 20-21). The order of the updates changes nothing.

    Args:
        rule: The rule that combines the updates.
        state: The memory of the rule.
        weights: w(t), shape (P,), float32.
        updates: All updates received in the epoch.
        staleness: How an update's age reduces its weight; None does not reduce it.

    Returns:
        The new memory and w(t+1), shape (P,), float32.

    Raises:
        UpdateError: An update has weights, or an importance, that is not finite.
        PluginError: A rule or a staleness weight that is not Fallow's failed, or returned what is no model.

    Examples:
        >>> from fallow.aggregation import Received
        >>> w = np.zeros(2, dtype=np.float32)
        >>> updates = [Update(0, 0, w + 1, w, data_size=100), Update(1, 0, w + 5, w, data_size=300)]
        >>> aggregate(Received(), None, w, updates)
        (None, array([4., 4.], dtype=float32))
    """
    staleness = staleness or Constant()
    ordered = sorted(updates, key=lambda update: (update.client, update.slot))
    for update in ordered:
        if not all_finite(update.weights):
            raise UpdateError(
                f"The update of client {update.client} that started in slot {update.slot} has weights that are not "
                "finite numbers, and would spoil the model; drop it, or lower the learning rate."
            )
        if not 0 <= update.importance < math.inf:
            raise UpdateError(
                f"The update of client {update.client} that started in slot {update.slot} has the importance "
                f"{update.importance}; it must be a finite number of 0 or more."
            )
    weighed = [Weighed(update, discount_of(staleness, update.staleness)) for update in ordered]
    counting = [item for item in weighed if item.discount > 0]
    return rule.combine(state, weights, counting) if is_ours(rule) else _combine(rule, state, weights, counting)


def _combine(
    rule: Aggregation[State], state: State, weights: Weights, updates: Sequence[Weighed]
) -> tuple[State, Weights]:
    """Returns what a rule of somebody's own returns, checked. All weights go in as copies, and come out as one.

    In place, a rule would change the model behind our back: what is known of it, its scores among them, would stay.
    """
    part = f"The aggregation rule '{type(rule).__name__}'"
    copies = [
        Weighed(replace(item.update, weights=item.update.weights.copy(), start=item.update.start.copy()), item.discount)
        for item in updates
    ]
    answer = call(part, "combine", rule.combine, state, weights.copy(), copies)
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise PluginError(f"{part} must return (state, weights) from combine; it returned a {type(answer).__name__}.")
    return answer[0], _checked_model(part, answer[1], weights.size)


def _checked_model(part: str, returned: object, size: int) -> Weights:
    """Returns a copy of the weights that a rule returned, shape (P,), float32."""
    weights = plain_array(f"{part} returned weights that can't be used: what combine gave", returned)
    if not isinstance(returned, np.ndarray) or weights.shape != (size,) or weights.dtype != np.float32:
        raise PluginError(
            f"{part} returned a {type(returned).__name__} of shape {weights.shape} and type {weights.dtype} as weights "
            f"from combine; it must return a NumPy array of shape ({size},), float32: weights.astype(np.float32)."
        )
    if not all_finite(weights):
        raise PluginError(
            f"{part} returned weights that are not finite numbers from combine, and would spoil the model; divide by "
            "no sum that can be 0, and return the weights as they are where there are no updates."
        )
    return np.array(weights)


def moved(weights: Weights, updates: Sequence[Weighed], shares: Sequence[float], by: By = "weights") -> Weights:
    """Returns w + Σ share_i · factor_i · (w_i − w), shape (P,), float32; the sum is in float64, in the order given.

    Args:
        weights: w, shape (P,), float32.
        updates: The updates with their staleness weights and importance.
        shares: One number for each update.
        by: "changes" puts Δ_i in the place of w_i − w.
    """
    base = weights.astype(np.float64)
    total = base.copy()
    for weighed, share in zip(updates, shares, strict=True):
        towards, origin = weighed.update.weights, base if by == "weights" else weighed.update.start
        total += share * weighed.factor * np.subtract(towards, origin, dtype=np.float64)
    return total.astype(np.float32)


def data_shares(updates: Sequence[Weighed]) -> list[float]:
    """Returns β_i: each update's data size as a share of their sum over the updates given (reading 1)."""
    total = sum(weighed.update.data_size for weighed in updates)
    return [weighed.update.data_size / total for weighed in updates]
