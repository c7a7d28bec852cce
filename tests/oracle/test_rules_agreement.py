"""Every rule against its scalar transcription, on random small worlds."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from fallow.aggregation import (
    AGGREGATIONS,
    All,
    AnyAggregation,
    Buffered,
    FedAsync,
    FedBuff,
    FedOpt,
    FedVarp,
    Guard,
    Mifa,
    Polynomial,
    Received,
    Shrinkage,
    Update,
    aggregate,
)
from tests.oracle import rules

Step = Callable[[list[float], list[rules.Received]], list[float]]

P, CLIENTS = 4, 5


def oracles(sizes: list[int]) -> list[tuple[AnyAggregation, Step]]:
    pairs: list[tuple[AnyAggregation, Step]] = []
    for by in ("weights", "changes"):
        pairs += [
            (Received(by=by), partial(rules.received, by=by)),
            (All(by=by), partial(rules.everyone, by=by, sizes=sizes)),
            (Shrinkage(m=3, by=by), partial(rules.shrinkage, by=by, m=3)),
            (Buffered(m=4, by=by), rules.Buffered(4, by).step),
        ]
    for method, eta in (("momentum", 1.0), ("adam", 0.01), ("yogi", 0.01)):
        pairs.append((FedOpt(method=method), rules.FedOpt(method, eta, 0.9, 0.99, 1e-3, P).step))
    pairs += [
        (FedAsync(alpha=0.4), partial(rules.fedasync, alpha=0.4)),
        (FedBuff(k=3, eta=0.5), rules.FedBuff(3, 0.5).step),
        (Mifa(eta=0.7), rules.Mifa(0.7, sizes, P).step),
        (Mifa(eta=0.7, where="disk"), rules.Mifa(0.7, sizes, P).step),
        (FedVarp(eta=0.5), rules.FedVarp(0.5, 1.0, sizes, P).step),
        (FedVarp(beta=0.3, where="disk"), rules.FedVarp(1.0, 0.3, sizes, P).step),
    ]
    return pairs


def test_every_rule_is_here() -> None:
    assert {type(rule) for rule, _ in oracles([1] * CLIENTS)} == set(AGGREGATIONS.values())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("number", range(len(oracles([1]))))
def test_a_rule_does_what_its_formula_says(number: int, seed: int) -> None:
    """With late updates, epochs without any, clients that deliver twice, unequal data and importance."""
    rng = np.random.default_rng([seed, number])
    sizes = rng.integers(1, 9, CLIENTS)
    rule, step = oracles(sizes.tolist())[number]
    staleness = Polynomial(a=0.7)
    weights = rng.standard_normal(P).astype(np.float32)
    expected, past, state = weights.astype(float).tolist(), [weights], rule.init(P, sizes)
    for epoch, count in enumerate(rng.permutation([0, 1, 3, 6] * 3).tolist()):
        updates = []
        for slot in range(count):  # six updates of five clients: one of them at least delivers twice
            client, late = int(rng.integers(CLIENTS)), int(rng.integers(min(epoch, 3) + 1))
            start = past[epoch - late]
            sent = start + rng.normal(0, 0.3, P).astype(np.float32)
            importance = float(rng.choice([0.5, 1.0, 2.0]))
            updates.append(Update(client, slot, sent, start, int(sizes[client]), late, importance))
        state, weights = aggregate(rule, state, weights, updates, staleness)
        past.append(weights)
        plain = [
            rules.Received(
                client=update.client,
                size=update.data_size,
                sent=update.weights.astype(float).tolist(),
                began=update.start.astype(float).tolist(),
                factor=(1 + update.staleness) ** -0.7 * update.importance,
            )
            for update in sorted(updates, key=lambda update: (update.client, update.slot))
        ]
        expected = step(expected, plain)
        np.testing.assert_allclose(weights, expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("seed", range(5))
def test_the_guard_does_what_its_rule_says(seed: int) -> None:
    """With epochs without updates, clients that deliver twice, models of zeros, and moves over eight magnitudes."""
    rng = np.random.default_rng([seed, 77])
    guard, oracle = Guard(3.0), rules.Guard(3.0)
    seen, refused = guard.first(), 0
    for count in rng.permutation([0, 1, 2, 3, 6] * 8).tolist():
        start = rng.standard_normal(P).astype(np.float32) * rng.choice([0, 1e-3, 1])
        updates = []
        for slot in range(count):
            sent = start + (rng.standard_normal(P) * 10.0 ** rng.integers(-4, 5)).astype(np.float32)
            updates.append(Update(int(rng.integers(CLIENTS)), slot, sent, start, 1))
        plain = [rules.Received(u.client, 1, u.weights.astype(float).tolist(), start.tolist(), 1.0) for u in updates]
        seen, kept, out = guard.sift(seen, updates)
        verdicts = oracle.step(plain)
        assert [update.slot for update in kept] == [slot for slot, ok in enumerate(verdicts) if ok]
        refused += len(out)
    np.testing.assert_allclose(seen, oracle.moves[-64:])
    assert refused > 5
