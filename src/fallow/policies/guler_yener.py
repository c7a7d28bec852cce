"""Güler–Yener: each client trains once in the time that its energy takes to come, and counts for as much more.

Source: B. Güler, A. Yener, "Sustainable Federated Learning", arXiv 2102.11274, and "A Framework for Sustainable
Federated Learning", arXiv 2102.05639: energy for one training comes every E_i rounds; client i takes part once in each
such period, in a round drawn uniformly, and its change is weighted by E_i, so that the sum stays unbiased. The rule is
given here as it is generally known; of the papers' text only abstracts were at hand.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.policies.base import EpochView, Mask, Needs
from fallow.policies.scoring import can_deliver, update_cost

LONGEST_PERIOD = 1_000_000


@dataclass(frozen=True)
class Periods:
    """The memory of Güler–Yener.

    Attributes:
        end: The first epoch after each client's period, shape (N,), int64; 0 before its first.
        turn: The epoch from which each client's turn is due, shape (N,), int64.
        waiting: Whether the turn of the period is still to be taken, shape (N,), bool.
        length: E_i, the epochs of the period that runs, shape (N,), int64; 0 before the first.
        weight: E_i of the period in which each client last took its turn, shape (N,), float64; 0 before that.
    """

    end: NDArray[np.int64]
    turn: NDArray[np.int64]
    waiting: Mask
    length: NDArray[np.int64]
    weight: NDArray[np.float64]


@dataclass(frozen=True)
class GulerYener:
    """Each client once in a period of E_i = (κ + c_tx) / (S·p_i) epochs, at random, weighted by E_i.

    Attributes:
        scale: "relative" weighs a change by E_i over the mean E of all clients; "absolute" by E_i itself, as printed.

    Examples:
        >>> from fallow.policies.check import check_policy
        >>> check_policy(GulerYener())
        []
    """

    scale: Annotated[
        Literal["relative", "absolute"],
        Field(description="weights E_i over their mean, or E_i itself, which only the aggregation `all` bears"),
    ] = "relative"

    @property
    def needs(self) -> Needs:
        """The mean harvest."""
        return Needs(mean_harvest=True)

    def init(self, clients: int) -> Periods:
        """Returns the first memory: no period has begun."""
        none = np.zeros(clients, dtype=np.int64)
        return Periods(none, none.copy(), np.zeros(clients, dtype=np.bool_), none.copy(), np.zeros(clients))

    def select(self, state: Periods, view: EpochView, rng: np.random.Generator) -> tuple[Periods, Mask]:
        """Returns the periods, and the clients whose turn it is."""
        length = period_epochs(view)
        uniform = rng.random(view.clients)
        begins = (view.epoch >= state.end) & (length > 0)
        over = (view.epoch >= state.end) & ~begins
        length = np.where(begins, length, state.length)
        end = np.where(begins, view.epoch + length, state.end)
        turn = np.where(begins, view.epoch + (uniform * length).astype(np.int64), state.turn)
        waiting = (state.waiting | begins) & ~over
        # Ours: energy comes unit by unit, not all at once as a period begins. So a turn waits, until its period ends,
        # for the units of a training and its upload.
        selected = waiting & (view.epoch >= turn) & can_deliver(view)
        weight = np.where(selected, length, state.weight)
        return Periods(end, turn, waiting & ~selected, length, weight), selected

    def importance(self, state: Periods) -> NDArray[np.float64]:
        """Returns the factor on each client's change, shape (N,), float64; 1 for a client that never had a turn.

        Ours: with the scale "relative" the factors are divided by the mean over those who had a turn. The source adds
        changes to the model with weights β_i of all clients (the aggregation `all`); a mean over those who delivered
        has the step's size already, and E_i itself would multiply it.
        """
        had_turn = state.weight > 0
        mean = state.weight[had_turn].mean() if self.scale == "relative" and had_turn.any() else 1.0
        return np.where(had_turn, state.weight / mean, 1.0)


def period_epochs(view: EpochView) -> NDArray[np.int64]:
    """Returns E_i = (κ_i + c_tx) / (S·p_i) rounded up, shape (N,), int64; 0 for a client without a harvest so far.

    Ours: p_i is the mean harvest so far, because nobody tells it; and E_i is whole and at least 1.

    Args:
        view: The first slot of an epoch, with the mean harvest.
    """
    harvests = view.mean_harvest > 0
    epochs = np.zeros(view.clients)
    np.divide(update_cost(view), view.slots_per_epoch * view.mean_harvest, out=epochs, where=harvests)
    whole = np.clip(np.ceil(epochs), 1, LONGEST_PERIOD).astype(np.int64)
    return np.where(harvests, whole, 0)
