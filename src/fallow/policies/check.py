"""The public conformance check: what is wrong with a policy, in words."""

from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from fallow.arrays import frozen_copy
from fallow.errors import FallowError, PolicyError
from fallow.plugins.calls import RAISED, place_of
from fallow.plugins.returned import plain_array
from fallow.plugins.wording import in_words
from fallow.policies.base import (
    AnyPolicy,
    EpochView,
    Known,
    Mask,
    Needs,
    SlotView,
    Starter,
    Weigher,
    checked_answer,
    checked_mask,
    checked_selection,
    most_selected,
    needs_of,
)
from fallow.state import check_parts, from_arrays, same_arrays, to_arrays

SIZES = (1, 7, 40)
EPOCHS = 6
SLOTS = 8
CAPACITY = 25
CLASSES = 4


def check_policy(policy: AnyPolicy) -> list[str]:
    """Returns what is wrong with a policy, one sentence each; an empty list if nothing is.

    The check runs the policy in small made-up worlds. It calls every method twice. Each must return the same both times
    (determinism), change neither its arguments nor the policy (purity), return one bool for each client, choose at most
    k clients and start only those that are ready. The policy's memory must survive a checkpoint.

    Args:
        policy: The policy to check.

    Examples:
        >>> from fallow.policies import VAoI
        >>> check_policy(VAoI(k=3))
        []
    """
    if isinstance(policy, type):
        return [f"The policy is the class {policy.__name__}; give an object, as in {policy.__name__}()."]
    problems: list[str] = []
    if not is_dataclass(policy) or not type(policy).__dataclass_params__.frozen:
        problems.append("The policy must be a frozen dataclass: decorate it with @dataclass(frozen=True).")
    missing = (hook for hook in ("init", "select") if not callable(getattr(policy, hook, None)))
    problems.extend(f"The policy has no method '{hook}'." for hook in missing)
    if problems:
        return problems
    try:
        needs = needs_of(policy)
        for clients in SIZES:
            if (most_selected(policy) or 0) > clients and clients != max(SIZES):
                continue  # a config with k above the number of clients is an error before a run begins
            first, again = (list(_live(policy, needs, clients)) for _ in range(2))
            if not _same(first, again):
                problems.append(
                    "The policy chose otherwise when the same epochs came a second time: it keeps memory outside its "
                    "state (on itself, or in a module)."
                )
    except PolicyError as error:
        problems.append(str(error))
    return problems


def _live(policy: AnyPolicy, needs: Needs, clients: int) -> Iterator[Mask]:
    """Yields the masks of a policy over a few epochs, and checks each of them."""
    state = _call("init", policy.init, clients)
    first = state
    to_arrays(state)
    world = np.random.default_rng(clients)
    selected = np.zeros(clients, dtype=np.bool_)
    for epoch in range(EPOCHS):
        view = _view(world, needs, epoch, clients, selected)
        state, selected = _ask_twice(policy, "select", policy.select, state, view, epoch)
        check_parts("policy", state, first)
        yield checked_selection(selected, clients, most_selected(policy))
        if isinstance(policy, Weigher):
            _check_importance(policy, state, clients)
        if not isinstance(policy, Starter):
            continue
        for slot in range(SLOTS):
            ready = selected & (world.random(clients) < 0.7)
            costs = (view.train_cost, view.transmit_cost, view.train_slots, view.transmit_slots)
            slot_view = SlotView(slot, view.battery, frozen_copy(ready), view.slots_per_epoch, *costs)
            state, starts = _ask_twice(policy, "start", policy.start, state, slot_view, epoch)
            check_parts("policy", state, first)
            if (starts & ~ready).any():
                raise PolicyError("The policy's start chose clients that are not in view.ready; it may only narrow it.")
            yield starts


def _check_importance(policy: Weigher[Any], state: Any, clients: int) -> None:
    """Raises PolicyError if a policy's factors on updates are not one number for each client, or change its state."""
    before = to_arrays(state)
    given = _call("importance", policy.importance, state)
    factors = plain_array("What the policy's importance returned", given, PolicyError)
    if factors.dtype.kind not in "fiu" or factors.shape not in ((), (clients,)):
        raise PolicyError(
            f"The policy's importance returned an array of shape {factors.shape} and type {factors.dtype}; it must "
            f"return one number for each client, shape ({clients},)."
        )
    if not (np.isfinite(factors) & (factors >= 0)).all():
        raise PolicyError(
            "The policy's importance has factors that are negative or not finite; they must be 0 or more."
        )
    if not same_arrays(before, to_arrays(state)):
        raise PolicyError("The policy's importance changed the state that it was given; it may only read it.")


def _ask_twice(
    policy: AnyPolicy, hook: str, function: Callable[..., Any], state: Any, view: EpochView | SlotView, epoch: int
) -> tuple[Any, Mask]:
    """Returns the answer of a method for a state, after a check that a state from a checkpoint gives the same."""
    before = to_arrays(state)
    itself = repr(policy)
    answers = []
    for asked_with in (state, from_arrays(state, to_arrays(state))):
        extra = (np.random.default_rng(epoch),) if hook == "select" else ()
        new_state, mask = checked_answer(_call(hook, function, asked_with, view, *extra), hook)
        answers.append((new_state, checked_mask(mask, view.battery.size, hook)))
    if not same_arrays(before, to_arrays(state)):
        raise PolicyError(f"The policy's {hook} changed the state that it was given; it must return a new one.")
    if repr(policy) != itself:
        raise PolicyError(f"The policy's {hook} changed the policy itself; memory belongs in the state.")
    (new_state, mask), (state_again, mask_again) = answers
    if not np.array_equal(mask, mask_again) or not same_arrays(to_arrays(new_state), to_arrays(state_again)):
        raise PolicyError(
            f"The policy's {hook} answered otherwise when asked again with the same state, view and random stream: "
            "draw only from the rng it is given, and keep everything it remembers in the state."
        )
    return new_state, mask


def _call(hook: str, function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except FallowError:
        raise
    except RAISED as error:  # a user's code: whatever it raises is a problem to report
        place = place_of(error, function)
        hint = "; the arrays of a view are read-only" if "read-only" in str(error) else ""
        where = f" ({place})" if place else ""
        raise PolicyError(f"The policy's {hook} raised {in_words(error)}{where}{hint}.") from error


def _view(world: np.random.Generator, needs: Needs, epoch: int, clients: int, selected: Mask) -> EpochView:
    """Returns a made-up but possible view of an epoch's first slot."""
    committed = world.random(clients) < 0.3
    training = committed & (world.random(clients) < 0.5)
    distance = world.exponential(1, clients).astype(np.float32)
    battery = world.integers(0, CAPACITY + 1, clients, dtype=np.int32)
    train_cost = frozen_copy(world.integers(1, CAPACITY, clients, dtype=np.int32))
    one = frozen_copy(np.ones(clients, dtype=np.int32))
    if needs.distance == "none":
        distance[:] = np.nan
    return EpochView(
        epoch=epoch,
        clients=clients,
        slots_per_epoch=SLOTS,
        battery=frozen_copy(battery),
        capacity=frozen_copy(np.full(clients, CAPACITY, dtype=np.int32)),
        train_cost=train_cost,
        transmit_cost=one,
        train_slots=train_cost,
        transmit_slots=one,
        training=frozen_copy(training),
        unsent=frozen_copy(committed & ~training),
        distance=frozen_copy(distance),
        delivered=frozen_copy(selected & (world.random(clients) < 0.5)),
        known=_known(np.random.default_rng([clients, epoch]), needs, epoch, clients),
    )


def _known(world: np.random.Generator, needs: Needs, epoch: int, clients: int) -> Known:
    """Returns made-up values of what the policy declares; some of them unknown, as they are in a run."""
    loss = world.exponential(1, clients).astype(np.float32)
    loss[world.random(clients) < 0.3] = np.nan
    last = world.integers(-1, max(epoch, 1), (2, clients), dtype=np.int32) if epoch else np.full((2, clients), -1)
    counts = np.where(last >= 0, 1 + last // 2, 0).astype(np.int32)
    moments = world.dirichlet(np.ones(CLASSES), clients).astype(np.float32)
    moments[np.isnan(loss)] = np.nan
    participation: dict[str, Any] = {}
    if needs.participation:
        participation = {
            "selections": frozen_copy(counts[0]),
            "deliveries": frozen_copy(counts[1]),
            "last_selected": frozen_copy(last[0].astype(np.int32)),
            "last_delivered": frozen_copy(last[1].astype(np.int32)),
            "last_staleness": frozen_copy(np.minimum(last[1], 1).astype(np.int32)),
        }
    return Known(
        probe_loss=frozen_copy(loss) if needs.probe_loss else None,
        training_loss=frozen_copy(loss) if needs.training_loss else None,
        data_size=frozen_copy(world.integers(1, 400, clients)) if needs.data_size else None,
        mean_harvest=frozen_copy(world.random(clients) * (world.random(clients) < 0.8)) if needs.mean_harvest else None,
        forecast=frozen_copy(world.exponential(3, (clients, needs.forecast_epochs))) if needs.forecast_epochs else None,
        forecast_error=(
            frozen_copy(world.exponential(1, (clients, needs.forecast_epochs)))
            if needs.forecast_epochs and needs.forecast_by == "model"
            else None
        ),
        label_mix=frozen_copy(world.dirichlet(np.ones(CLASSES), clients)) if needs.label_mix else None,
        moments=frozen_copy(moments) if needs.moments else None,
        **participation,
    )


def _same(first: list[Mask], again: list[Mask]) -> bool:
    return len(first) == len(again) and all(map(np.array_equal, first, again))
