"""What comes from nodes is checked here before it counts: a node may be broken, or lie."""

from collections.abc import Mapping
from logging import INFO, WARNING
from typing import TypeVar

import numpy as np
from flwr.app import Message

from fallow.aggregation import Update
from fallow.errors import FallowError
from fallow.flower.internals import log
from fallow.flower.server.federation import Federation
from fallow.flower.server.knowledge import check_told
from fallow.flower.wire.arrays import MessageError, Named, flattened, from_bytes
from fallow.flower.wire.messages import Outcome, Query, Standing
from fallow.flower.wire.records import from_records, updates_in
from fallow.models.weights import Weights, all_finite
from fallow.state import from_arrays, put_rows, take_rows, to_arrays

MOST = 2**31 - 1
"""Units, sizes and slots are counted in 32 bits."""

Answer = TypeVar("Answer", Standing, Outcome)


def read_answer(kind: type[Answer], node: str, reply: Message, query: Query | None = None) -> Answer | None:
    """Returns what a node answered. If the node failed or the answer is not valid, logs it and returns None.

    Args:
        kind: What was asked for.
        node: How it is called, by `Roster.called`.
        reply: From the node.
        query: What the answer answers, if it is a standing.
    """
    if reply.has_error():
        log(WARNING, "Failed: %s: %s", node, reply.error.reason)
        return None
    try:
        answer = from_records(kind, reply.content)
        if isinstance(answer, Standing):
            _check_standing(answer)
            if query is not None and not answer.lacks_model:
                check_told(answer, query)
    except FallowError as error:
        log(WARNING, "Refused: %s: %s", node, error)
        return None
    return answer


def take_in(
    federation: Federation, outcomes: Mapping[int, tuple[Outcome, Message]]
) -> tuple[list[tuple[Update, float]], int]:
    """Takes over what the outcomes of a round brought, and returns the new updates.

    Clients are taken in ascending order, so the order of arrival changes nothing.

    Args:
        federation: Changed in place.
        outcomes: Outcomes and the messages that they came in, by client.

    Returns:
        The updates that are sound and new, with their losses, and how many are not sound.
    """
    received: list[tuple[Update, float]] = []
    refused = 0
    for client, (outcome, reply) in sorted(outcomes.items()):
        if outcome.declined:
            log(INFO, "%s did not train: %s.", outcome.identity, outcome.declined.rstrip("."))
        if not outcome.trained:
            federation.sent.not_begun(client, outcome.epoch)
        own, bad = sound_updates(federation, client, outcome, reply)
        received, refused = received + own, refused + bad
        take_over_memory(federation, client, outcome)
    return received, refused


def sound_updates(
    federation: Federation, client: int, outcome: Outcome, reply: Message
) -> tuple[list[tuple[Update, float]], int]:
    """Returns a client's updates that are sound and new, with their losses, and how many are not sound.

    Each counts as received: an update that is rejected is not asked for again.

    Args:
        federation: Its roster is changed in place.
        client: Its number.
        outcome: Of the client.
        reply: The message that it came in, with the updates.
    """
    sound: list[tuple[Update, float]] = []
    refused = 0
    try:
        brought = updates_in(reply.content, len(outcome.slots))
        if not len(brought) == len(outcome.epochs) == len(outcome.losses):
            raise MessageError(
                f"{len(brought)} updates, of {len(outcome.epochs)} epochs and with {len(outcome.losses)} losses."
            )
    except FallowError as error:
        log(WARNING, "Refused: the updates of %s: %s", outcome.identity, error)
        return [], 1
    for slot, epoch, loss, model in zip(outcome.slots, outcome.epochs, outcome.losses, brought, strict=True):
        if slot <= federation.roster.received[client]:
            continue  # it came before
        try:
            weights, start = _check_update(federation, slot, epoch, model)
        except MessageError as error:
            log(WARNING, "Refused: the update of %s that started in slot %s: %s", outcome.identity, slot, error)
            refused += 1
        else:
            size, staleness = federation.roster.sizes[client], federation.epoch - epoch
            sound.append((Update(client, slot, weights, start, size, staleness), loss))
            federation.sent.arrived(client, epoch)
        federation.roster.received[client] = min(slot, MOST)
    return sound, refused


def take_over_memory(federation: Federation, client: int, outcome: Outcome) -> None:
    """Takes over what the policy remembers of a client after its slots. A memory that does not fit is logged and left.

    Args:
        federation: Its policy's memory is replaced.
        client: Its number.
        outcome: Of the client.
    """
    if not outcome.memory:
        return
    clients, who = federation.age.size, np.array([client])
    own = take_rows(federation.policy_state, who, clients)
    try:
        given = from_bytes(outcome.memory)
    except MessageError as error:
        log(WARNING, "Refused: the policy's memory from %s: %s", outcome.identity, error)
        return
    if {name: (array.shape, array.dtype) for name, array in given.items()} != {
        name: (array.shape, array.dtype) for name, array in to_arrays(own).items()
    }:
        log(WARNING, "Refused: the policy's memory from %s has other arrays.", outcome.identity)
        return
    federation.policy_state = put_rows(federation.policy_state, who, from_arrays(own, given), clients, shared=False)


def _check_standing(standing: Standing) -> None:
    units = (standing.battery, standing.capacity, standing.train_cost, standing.transmit_cost)
    numbers = (*units, standing.train_slots, standing.transmit_slots)
    if not standing.lacks_model and not (
        all(0 <= number <= MOST for number in numbers) and 0 < standing.data_size <= MOST
    ):
        raise MessageError(f"it can't stand at {standing}.")


def _check_update(federation: Federation, slot: int, epoch: int, model: Named) -> tuple[Weights, Weights]:
    """Returns the weights of an update that is sound, and those that its training began with."""
    weights = flattened(model, federation.model)
    if not all_finite(weights):
        raise MessageError("its weights are not finite numbers.")
    if not 0 <= epoch <= federation.epoch or slot > MOST:
        raise MessageError(f"it claims to have started in epoch {epoch}, slot {slot}, in epoch {federation.epoch}.")
    if epoch == federation.epoch:
        return weights, federation.weights
    if epoch not in federation.sent.models:
        raise MessageError(
            f"it started in epoch {epoch}, and the server no longer keeps the model of that epoch, from which its "
            "change is counted."
        )
    return weights, federation.sent.models[epoch]
