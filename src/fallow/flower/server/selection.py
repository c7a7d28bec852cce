"""Letting a policy choose among the clients that answered."""

from collections.abc import Iterable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fallow.arrays import frozen_copy
from fallow.flower.server.federation import Federation
from fallow.flower.server.knowledge import gather
from fallow.flower.wire.messages import Standing
from fallow.plugins.calls import call
from fallow.policies import (
    AnyPolicy,
    EpochView,
    Mask,
    checked_answer,
    checked_selection,
    most_selected,
    needs_of,
)
from fallow.rng import Purpose, stream
from fallow.state import put_rows, take_rows

Number = TypeVar("Number", bound=np.generic)


def select(
    policy: AnyPolicy, federation: Federation, standings: dict[int, Standing], seed: int, slots_per_epoch: int
) -> tuple[Mask, NDArray[np.float32]]:
    """Lets the policy choose, and returns the participants and the distances.

    The policy's memory is kept in the federation. For clients that did not answer it stays as it was.

    Args:
        policy: Who trains.
        federation: Has the policy's memory.
        standings: How the clients that answered stand, by their numbers.
        seed: Of the policy's draws.
        slots_per_epoch: S.

    Returns:
        The participants, shape (N,), bool, and M_i, shape (N,), float32, NaN for those who did not answer.
    """
    clients = federation.age.size
    who = np.array(sorted(standings), dtype=np.intp)
    chosen = np.zeros(clients, dtype=np.bool_)
    distances = np.full(clients, np.nan, dtype=np.float32)
    if not who.size:
        return chosen, distances

    present = [standings[client] for client in who.tolist()]

    view = EpochView(
        epoch=federation.epoch,
        clients=who.size,
        slots_per_epoch=slots_per_epoch,
        battery=_column((one.battery for one in present), np.int32),
        capacity=_column((one.capacity for one in present), np.int32),
        train_cost=_column((one.train_cost for one in present), np.int32),
        transmit_cost=_column((one.transmit_cost for one in present), np.int32),
        train_slots=_column((one.train_slots or one.train_cost for one in present), np.int32),
        transmit_slots=_column((one.transmit_slots for one in present), np.int32),
        training=_column((one.training for one in present), np.bool_),
        unsent=_column((one.unsent for one in present), np.bool_),
        distance=_column((one.distance for one in present), np.float32),
        delivered=frozen_copy(federation.delivered[who]),
        known=gather(needs_of(policy), federation, who, present),
    )
    part = take_rows(federation.policy_state, who, clients)
    rng = stream(seed, Purpose.SELECT, federation.epoch)
    part, mask = checked_answer(
        call(f"The policy '{type(policy).__name__}'", "select", policy.select, part, view, rng), "select"
    )
    federation.policy_state = put_rows(federation.policy_state, who, part, clients)
    chosen[who] = checked_selection(mask, who.size, most_selected(policy))
    distances[who] = view.distance
    return chosen, distances


def _column(values: Iterable[float], dtype: type[Number]) -> NDArray[Number]:
    return frozen_copy(np.array(list(values), dtype=dtype))
