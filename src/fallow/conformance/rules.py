"""The checks of aggregation rules, staleness weights and local objectives."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fallow.aggregation import AnyAggregation, Resizing, Staleness, Update, aggregate, discount_of, first_memory
from fallow.conformance.sentences import first_problem, unchanged
from fallow.errors import PluginError
from fallow.objectives import Objective, logit_offsets
from fallow.plugins.calls import call
from fallow.state import check_parts, from_arrays, same_arrays, to_arrays

SIZE = 6
DATA_SIZES = (10, 30, 20)
UPDATES = ((), (0,), (0, 1, 2), (), (2, 1))
"""Who delivers in each epoch."""
LATEST = 100
"""The oldest update that a staleness weight is asked about, in epochs."""


def check_rule(rule: AnyAggregation) -> list[str]:
    """Returns what is wrong with an aggregation rule, in a sentence; an empty list if nothing is.

    Args:
        rule: The rule, made with its options.

    Examples:
        >>> from fallow.aggregation import Mifa
        >>> check_rule(Mifa())
        []
    """
    return first_problem(lambda: _check_rule(rule))


def _check_rule(rule: AnyAggregation) -> None:
    part = f"The aggregation rule '{type(rule).__name__}'"
    rng = np.random.default_rng(SIZE)
    sizes = np.array(DATA_SIZES, dtype=np.int64)
    with unchanged(part, rule):
        first = state = first_memory(rule, SIZE, sizes)
        weights = rng.standard_normal(SIZE, dtype=np.float32)
        for epoch, clients in enumerate(UPDATES):
            updates = _updates(rng, clients, weights, epoch)
            before = to_arrays(state)
            kept = from_arrays(state, to_arrays(state))
            new, moved = aggregate(rule, state, weights, updates)
            if not same_arrays(before, to_arrays(state)):
                raise PluginError(f"{part} changed the memory that it was given in combine; it must return a new one.")
            check_parts("aggregation rule", new, first)
            again, moved_again = aggregate(rule, kept, weights, updates)
            if not np.array_equal(moved, moved_again) or not same_arrays(to_arrays(new), to_arrays(again)):
                raise PluginError(
                    f"{part} answered otherwise when asked again with the same memory and updates: it may draw nothing "
                    "by chance, and must keep everything it remembers in its memory."
                )
            state, weights = new, moved
        if isinstance(rule, Resizing):
            to_arrays(call(part, "resize", rule.resize, state, np.append(sizes, 5)))


def _updates(rng: np.random.Generator, clients: Sequence[int], start: Any, epoch: int) -> list[Update]:
    return [
        Update(
            client,
            epoch * 10 + client,
            start + rng.standard_normal(SIZE, dtype=np.float32),
            start,
            DATA_SIZES[client],
            staleness=min(epoch, client),
        )
        for client in clients
    ]


def check_staleness(staleness: Staleness) -> list[str]:
    """Returns what is wrong with a staleness weight, in a sentence; an empty list if nothing is.

    Args:
        staleness: The staleness weight, made with its options.

    Examples:
        >>> from fallow.aggregation import Hinge
        >>> check_staleness(Hinge())
        []
    """
    return first_problem(lambda: _check_staleness(staleness))


def _check_staleness(staleness: Staleness) -> None:
    part = f"The staleness weight '{type(staleness).__name__}'"
    with unchanged(part, staleness):
        first = [discount_of(staleness, epochs) for epochs in range(LATEST)]
        again = [discount_of(staleness, epochs) for epochs in reversed(range(LATEST))][::-1]
    for epochs, (factor, later) in enumerate(zip(first, again, strict=True)):
        if factor != later:
            raise PluginError(
                f"{part} of an update that is {epochs} epochs late was {factor:g}, and {later:g} when asked again; it "
                "may depend on nothing else."
            )


def check_objective(objective: Objective) -> list[str]:
    """Returns what is wrong with a local objective, in a sentence; an empty list if nothing is.

    Args:
        objective: The objective, made with its options.

    Examples:
        >>> from fallow.objectives import FedLC
        >>> check_objective(FedLC())
        []
    """
    return first_problem(lambda: _check_objective(objective))


def _check_objective(objective: Objective) -> None:
    part = f"The objective '{type(objective).__name__}'"
    labels = np.array([0, 0, 1, 2, 2, 2], dtype=np.int64)
    shards = [np.arange(6), np.array([0, 1]), np.array([2, 3])]
    with unchanged(part, objective):
        first, again = (logit_offsets(objective, labels, shards, 4) for _ in range(2))
    for one, other in zip(first, again, strict=True):
        same = one is other is None or (one is not None and other is not None and np.array_equal(one, other))
        if not same:
            raise PluginError(f"{part} gave other numbers when asked again with the same counts.")
