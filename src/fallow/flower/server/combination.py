"""From the updates of a round to the next model (Alg. 1, lines 20-21)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from logging import WARNING

import numpy as np
from flwr.app import Message

from fallow.aggregation import AnyAggregation, Guard, Staleness, Update, aggregate, discount_of
from fallow.errors import DivergenceError
from fallow.flower.internals import log
from fallow.flower.server.federation import Federation, Row
from fallow.flower.server.inbox import take_in
from fallow.flower.wire.arrays import named
from fallow.flower.wire.messages import Outcome
from fallow.learning.state import DIVERGED
from fallow.models.weights import all_finite, running_mean
from fallow.policies import AnyPolicy, Mask, importances
from fallow.simulation.events import Event

GUARD = 10.0
"""The guard of a federation whose owner names no other."""

FRUITLESS_ROUNDS = 3
"""Rounds in a row with trainings, none of them of use, after which a federation stops."""


@dataclass(frozen=True)
class Rules:
    """How updates make the next model.

    Attributes:
        policy: May say how much each client's update counts.
        aggregation: How updates make the next model.
        staleness: How much an update's weight shrinks with its age; one that is too old is not used.
        average: The share of the running mean that each round keeps.
        guard: Refuses updates that moved the model much farther than others; None refuses none.
    """

    policy: AnyPolicy
    aggregation: AnyAggregation
    staleness: Staleness
    average: float
    guard: Guard | None

    @property
    def in_words(self) -> str:
        """What makes a federation another one if it changes."""
        average = f", average {self.average}" if self.average else ""
        return f"policy {self.policy}, aggregation {self.aggregation}, staleness {self.staleness}{average}"


def settle(
    federation: Federation,
    outcomes: Mapping[int, tuple[Outcome, Message]],
    selected: Mask,
    ordered: int,
    rules: Rules,
) -> Row:
    """Makes the next model of what a round's orders brought, and returns what the round's row says of them.

    Args:
        federation: Changed in place.
        outcomes: The answers to the orders and the messages that they came in, by client.
        selected: Who was selected, shape (N,), bool.
        ordered: How many orders there were.
        rules: How updates make the next model.
    """
    received, unsound = take_in(federation, outcomes)
    used, refused = combine(federation, [update for update, _ in received], rules)
    note_participation(federation, selected, used)
    said = [outcome for outcome, _ in outcomes.values()]
    note_fruit(federation, said, used, refused)
    return columns(said, ordered, received, used, unsound, refused)


def combine(federation: Federation, updates: Sequence[Update], rules: Rules) -> tuple[list[Update], int]:
    """Makes the next model of the updates that arrived, and returns those that were used, and how many were refused.

    Args:
        federation: Changed in place: the model, its running mean, the memories of rule and guard, and who delivered.
        updates: What arrived and is sound.
        rules: How they make the next model.
    """
    fresh = [update for update in updates if discount_of(rules.staleness, update.staleness) > 0]
    used = _sift(federation, fresh, rules.guard)
    if used:
        counts = importances(rules.policy, federation.policy_state, federation.age.size)
        used = [replace(update, importance=float(counts[update.client])) for update in used]
    state, weights = aggregate(
        rules.aggregation, federation.aggregation_state, federation.weights, used, rules.staleness
    )
    if all_finite(weights):
        federation.aggregation_state, federation.model = state, named(weights, federation.model)
    else:
        log(WARNING, "The new model would not have finite numbers; the model of the round before is kept.")
        used, weights = [], federation.weights
    if federation.mean is not None:
        federation.mean = running_mean(federation.mean, weights, rules.average)
    federation.delivered = np.zeros(federation.age.size, dtype=np.bool_)
    federation.delivered[[update.client for update in used]] = True
    return used, len(fresh) - len(used)


def _sift(federation: Federation, updates: list[Update], guard: Guard | None) -> list[Update]:
    """Returns the updates that the guard accepts; the others are logged with their senders' names."""
    if guard is None:
        return updates
    federation.seen, kept, refused = guard.sift(federation.seen, updates)
    for refusal in refused:
        update = refusal.update
        name = federation.roster.names[update.client]
        log(WARNING, "Refused: the update of %s that started in slot %s: %s.", name, update.slot, refusal.in_words())
    return kept


def check_fruitful(federation: Federation) -> None:
    """Checks that the trainings of the last rounds were not all in vain.

    Args:
        federation: After a round.

    Raises:
        DivergenceError: They were.
    """
    if federation.fruitless >= FRUITLESS_ROUNDS:
        raise DivergenceError(
            f"In each of the last {federation.fruitless} rounds that had trainings, all of them diverged or moved the "
            f"model too far, so the federation stops after round {federation.epoch}; the last sound model is kept. "
            "Lower the learning rate of the nodes, or mend those that the log names, and start it again."
        )


def note_participation(federation: Federation, selected: Mask, used: Sequence[Update]) -> None:
    """Notes who took part in this round, and whose update went into the model how late.

    Args:
        federation: Changed in place.
        selected: Who was selected, shape (N,), bool.
        used: The updates that went into the model, a client's oldest first.
    """
    uploads = [
        Event("upload", update.slot, np.array([update.client]), np.array([update.staleness], dtype=np.int32))
        for update in used
    ]
    federation.participation = federation.participation.after(federation.epoch, selected, federation.delivered, uploads)


def columns(
    outcomes: Sequence[Outcome],
    ordered: int,
    received: Sequence[tuple[Update, float]],
    used: Sequence[Update],
    unsound: int,
    refused: int,
) -> Row:
    """Returns what the row of a round says of its orders.

    Args:
        outcomes: The answers to the orders.
        ordered: How many orders there were.
        received: The updates that arrived and are sound, with their training losses.
        used: The updates that went into the model.
        unsound: How many updates are not sound.
        refused: How many are, and were refused because they would ruin the model.
    """
    losses = [loss for _, loss in received]
    return {
        "trained": sum(outcome.trained for outcome in outcomes),
        "declined": sum(bool(outcome.declined) for outcome in outcomes),
        "silent": ordered - len(outcomes),
        "updates": len(used),
        "late": sum(update.staleness > 0 for update in used),
        "discarded": len(received) - len(used) - refused,
        "refused": unsound + refused,
        "train_loss": float(np.mean(losses)) if losses else None,
    }


def note_fruit(federation: Federation, outcomes: Sequence[Outcome], used: Sequence[Update], refused: int) -> None:
    """Notes whether anything came of the trainings that ended in this round; one without any changes nothing.

    Args:
        federation: Changed in place.
        outcomes: The answers to the orders.
        used: The updates that went into the model.
        refused: How many were refused because they would ruin the model.
    """
    if used:
        federation.fruitless = 0
    elif refused or any(DIVERGED in outcome.declined for outcome in outcomes):
        federation.fruitless += 1
