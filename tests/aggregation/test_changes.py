"""Rules that use changes, on numbers worked by hand."""

from dataclasses import replace

import numpy as np
import pytest

from fallow.aggregation import (
    All,
    AnyAggregation,
    Buffered,
    FedAsync,
    FedBuff,
    FedOpt,
    FedVarp,
    Mifa,
    Polynomial,
    Received,
    Shrinkage,
    Update,
    UpdateError,
    aggregate,
)

W = np.array([10.0, 0.0], np.float32)
START = np.array([8.0, 1.0], np.float32)
SIZES = np.array([100, 300, 400])


def update(client: int, change: tuple[float, float], staleness: int = 0, slot: int = 0, start=START) -> Update:
    return Update(client, slot, start + np.array(change, np.float32), start, int(SIZES[client]), staleness)


TWO = [update(0, (4.0, 4.0)), update(1, (0.0, 8.0))]
"""Changes whose mean by data size is (1, 7); their weights are (12, 5) and (8, 9), with the mean (9, 8)."""


def lived(rule: AnyAggregation, *epochs: list[Update], staleness=None) -> list[list[float]]:
    """Returns the models after each epoch, from W."""
    state, weights, models = rule.init(2, SIZES), W, []
    for updates in epochs:
        state, weights = aggregate(rule, state, weights, updates, staleness)
        models.append(weights.tolist())
    return models


def test_a_change_is_counted_from_the_model_that_its_training_began_with() -> None:
    np.testing.assert_array_equal(TWO[1].change, [0.0, 8.0])


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Received(by="weights"), [9, 8]),
        (Received(by="changes"), [11, 7]),
        (All(by="changes"), [10.5, 3.5]),  # 400 of 800 samples delivered: half of it
        (Shrinkage(m=2, by="changes"), [10.5, 3.5]),  # 2 of 2 + 2
        (Buffered(m=2, by="changes"), [11, 7]),
    ],
)
def test_the_rules_of_before_add_changes_where_asked(rule: AnyAggregation, expected: list[float]) -> None:
    assert lived(rule, TWO) == [expected]


def test_buffered_adds_changes_that_came_in_different_epochs() -> None:
    assert lived(Buffered(m=2, by="changes"), TWO[:1], [], TWO[1:]) == [[10, 0], [10, 0], [11, 7]]


def test_importance_multiplies_a_pull_or_a_change_after_the_data_shares() -> None:
    doubled = [replace(TWO[0], importance=2.0), TWO[1]]
    # (1, 7) and a quarter of (4, 4) once more; by weights (9, 8) and a quarter of (12, 5) − (10, 0) once more.
    assert lived(Received(by="changes"), doubled) == [[12, 8]]
    assert lived(Received(), doubled) == [[9.5, 9.25]]
    assert lived(Mifa(), doubled) == [[10 + (100 * 8) / 800, (100 * 8 + 300 * 8) / 800]]
    assert lived(FedAsync(alpha=0.25), [replace(TWO[0], importance=2.0)]) == [[11, 2.5]]


@pytest.mark.parametrize("importance", [float("nan"), float("inf"), -1.0])
def test_an_importance_that_no_rule_can_use_is_refused(importance: float) -> None:
    with pytest.raises(UpdateError, match="client 0 that started in slot 0 has the importance"):
        lived(Received(), [replace(TWO[0], importance=importance)])


def test_fedasync_pulls_with_one_update_after_another() -> None:
    # Half way to (12, 5): (11, 2.5). Half of the way from there to (8, 9): (9.5, 5.75).
    assert lived(FedAsync(alpha=0.5), TWO) == [[9.5, 5.75]]
    # Three epochs late with a = 0.5: a quarter of the way to (12, 5).
    assert lived(FedAsync(alpha=0.5), [replace(TWO[0], staleness=3)], staleness=Polynomial(a=0.5)) == [[10.5, 1.25]]


def test_fedbuff_waits_across_epochs_and_may_move_twice_in_one() -> None:
    first, second = TWO
    # The mean of (4, 4) and (0, 8) is (2, 6), whoever has more data; three changes leave one that waits.
    assert lived(FedBuff(k=2), [first], [], [second]) == [[10, 0], [10, 0], [12, 6]]
    third = replace(first, slot=30)
    assert lived(FedBuff(k=2), [first, third, second], [second]) == [[14, 4], [14, 12]]
    assert lived(FedBuff(k=2, eta=0.5), TWO) == [[11, 3]]


def test_fedbuff_of_one_without_staleness_adds_the_change() -> None:
    assert lived(FedBuff(k=1), [TWO[0]]) == [(W + TWO[0].change).tolist()]
    late = replace(TWO[0], staleness=3)
    assert lived(FedBuff(k=1), [late], staleness=Polynomial(a=0.5)) == [[12, 2]]


def test_momentum_goes_on_in_the_direction_of_before() -> None:
    # m = (1, 7), then 0.5·(1, 7) + (1, 7) = (1.5, 10.5).
    assert lived(FedOpt(method="momentum", beta1=0.5), TWO, TWO) == [[11, 7], [12.5, 17.5]]
    assert lived(FedOpt(method="momentum", beta1=0.5), TWO, [], TWO) == [[11, 7], [11, 7], [12.5, 17.5]]


def test_adam_and_yogi_on_one_number() -> None:
    start = np.zeros(1, np.float32)
    one = Update(0, 0, start + 2, start, 100)
    # m = 0.5·2 = 1; v: Adam 0.75·1 + 0.25·4 = 1.75, Yogi 1 + 0.25·4 = 2, as v < Δ². τ = 1, so v began at 1.
    for method, v in (("adam", 1.75), ("yogi", 2.0)):
        rule = FedOpt(method=method, eta=0.1, beta1=0.5, beta2=0.75, tau=1.0)
        state, weights = aggregate(rule, rule.init(1, SIZES), start, [one])
        assert (state.first.tolist(), state.second.tolist()) == ([1], [v])
        np.testing.assert_allclose(weights, [0.1 / (v**0.5 + 1)], rtol=1e-6)


def test_mifa_moves_by_everybody_s_last_change_also_when_nothing_came() -> None:
    # (100·(4, 4) + 300·(0, 8)) / 800 = (0.5, 3.5), in every epoch until somebody delivers again.
    models = lived(Mifa(), TWO, [], [update(0, (8.0, 0.0))])
    assert models == [[10.5, 3.5], [11, 7], [12, 10]]  # the last: (100·8/800, 300·8/800) = (1, 3)
    assert lived(Mifa(eta=0.5), TWO) == [[10.25, 1.75]]


def test_mifa_remembers_the_later_of_two_in_an_epoch() -> None:
    assert lived(Mifa(), [update(2, (9.0, 9.0), slot=1), update(2, (2.0, 4.0), slot=20)]) == [[11, 2]]


def test_fedvarp_corrects_what_came_by_what_is_remembered() -> None:
    # First (1, 7), nothing being remembered. Then y = (4, 4), (0, 8), 0 with the mean (0.5, 3.5), and client 0 brings
    # (8, 0): (8, 0) − (4, 4) + (0.5, 3.5) = (4.5, −0.5). Without updates it stays.
    rule, again = FedVarp(), [update(0, (8.0, 0.0))]
    assert lived(rule, TWO, [], again) == [[11, 7], [11, 7], [15.5, 6.5]]
    # FedStale's β of a half: (8, 0) − (2, 2) + (0.25, 1.75) = (6.25, −0.25).
    assert lived(FedVarp(beta=0.5), TWO, again) == [[11, 7], [17.25, 6.75]]
    assert lived(FedVarp(beta=0.0), TWO, again) == lived(Received(by="changes"), TWO, again)


@pytest.mark.parametrize("memory", ["float32", "float16"])
@pytest.mark.parametrize("rule", [Mifa, FedVarp])
def test_with_everyone_present_the_memory_rules_are_fedavg(rule, memory: str) -> None:
    rng = np.random.default_rng(4)
    sizes = np.array([20, 20, 20, 20])
    rules = (rule(memory=memory), Received(by="changes"))
    states, models = [each.init(50, sizes) for each in rules], [np.zeros(50, np.float32)] * 2
    for _ in range(6):
        brought = [rng.normal(0, 0.01, 50).astype(np.float32) for _ in sizes]
        for number, each in enumerate(rules):
            w = models[number]
            updates = [Update(client, 0, w + change, w, 20) for client, change in enumerate(brought)]
            states[number], models[number] = aggregate(each, states[number], w, updates)
    np.testing.assert_allclose(*models, atol=1e-6 if memory == "float32" else 1e-4)
    assert np.abs(models[1]).max() > 0.005


@pytest.mark.parametrize("where", ["ram", "disk"])
@pytest.mark.parametrize("size", [1e-30, 1e-6, 1.0, 70_000.0, 1e30])
def test_half_precision_holds_changes_of_any_size(size: float, where: str) -> None:
    change = np.array([1.0, -0.3337, 1e-3, 0.0], np.float32) * np.float32(size)
    start = np.zeros(4, np.float32)
    rule = Mifa(memory="float16", where=where)
    state, weights = aggregate(rule, rule.init(4, np.array([5])), start, [Update(0, 0, change, start, 5)])
    np.testing.assert_allclose(weights, change, rtol=2**-11)
    assert state.rows.kept[0].dtype == np.float16
    assert np.isfinite(state.rows.kept[0]).all()


@pytest.mark.parametrize("memory", ["float32", "float16"])
@pytest.mark.parametrize("rule", [Mifa, FedVarp])
def test_a_change_beyond_every_measure_is_refused_by_name(rule, memory: str) -> None:
    huge = np.full(2, 3e38, np.float32)
    with pytest.raises(UpdateError, match="client 1 that started in slot 33 changes a weight by inf"):
        lived(rule(memory=memory), [Update(1, 33, huge, -huge, 300)])


@pytest.mark.parametrize("rule", [Mifa(), FedVarp(memory="float16"), FedVarp(where="disk")])
def test_a_memory_follows_clients_that_come_later_and_data_that_changes(rule) -> None:
    state, _ = aggregate(rule, rule.init(2, SIZES[:2]), W, TWO)
    state = rule.resize(state, np.array([200, 300, 500]))
    np.testing.assert_allclose(state.mean(), [200 * 4 / 1000, (200 * 4 + 300 * 8) / 1000])
    assert state.rows.row(2).tolist() == [0, 0]
