"""From the updates of a round to the next model (Alg. 1, lines 20-21)."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fallow.aggregation import AnyAggregation, Staleness, Update, aggregate, discount_of
from fallow.flower.server.federation import Federation, Row
from fallow.flower.wire.arrays import named
from fallow.flower.wire.messages import Outcome
from fallow.models.weights import running_mean
from fallow.policies import AnyPolicy, Mask, importances
from fallow.simulation.events import Event


def combine(
    federation: Federation,
    updates: Sequence[Update],
    policy: AnyPolicy,
    aggregation: AnyAggregation,
    staleness: Staleness,
    average: float,
) -> list[Update]:
    """Makes the next model of the updates that arrived, and returns those that were used.

    Args:
        federation: Changed in place: the model, its running mean, the rule's memory, and who delivered.
        updates: What arrived and is sound.
        policy: May say how much each client's update counts.
        aggregation: How updates make the next model.
        staleness: How much an update's weight shrinks with its age; one that is too old is not used.
        average: The share of the running mean that each round keeps.
    """
    used = [update for update in updates if discount_of(staleness, update.staleness) > 0]
    if used:
        counts = importances(policy, federation.policy_state, federation.age.size)
        used = [replace(update, importance=float(counts[update.client])) for update in used]
    federation.aggregation_state, weights = aggregate(
        aggregation, federation.aggregation_state, federation.weights, used, staleness
    )
    federation.model = named(weights, federation.model)
    if federation.mean is not None:
        federation.mean = running_mean(federation.mean, weights, average)
    federation.delivered = np.zeros(federation.age.size, dtype=np.bool_)
    federation.delivered[[update.client for update in used]] = True
    return used


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
    outcomes: Sequence[Outcome], ordered: int, losses: Sequence[float], used: Sequence[Update], refused: int
) -> Row:
    """Returns what the row of a round says of its orders.

    Args:
        outcomes: The answers to the orders.
        ordered: How many orders there were.
        losses: The training loss of each update that arrived and is sound.
        used: The updates that went into the model.
        refused: How many updates are not sound.
    """
    return {
        "trained": sum(outcome.trained for outcome in outcomes),
        "declined": sum(bool(outcome.declined) for outcome in outcomes),
        "silent": ordered - len(outcomes),
        "updates": len(used),
        "late": sum(update.staleness > 0 for update in used),
        "discarded": len(losses) - len(used),
        "refused": refused,
        "train_loss": float(np.mean(losses)) if losses else None,
    }
