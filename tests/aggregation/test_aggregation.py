"""The rules on numbers worked by hand."""

from itertools import permutations

import numpy as np
import pytest

from fallow.aggregation import AGGREGATIONS, STALENESS, Update, UpdateError, aggregate
from fallow.aggregation.absent import All
from fallow.aggregation.buffered import Buffered
from fallow.aggregation.received import Received
from fallow.aggregation.shrinkage import Shrinkage
from fallow.aggregation.staleness import Constant, Discard, Hinge, Polynomial

W = np.array([10.0, 0.0], np.float32)
SIZES = np.array([100, 300, 400])


def update(client: int, values: tuple[float, float], staleness: int = 0, slot: int = 0) -> Update:
    return Update(client, slot, np.array(values, np.float32), W, int(SIZES[client]), staleness)


TWO = [update(0, (14.0, 4.0)), update(1, (10.0, 8.0))]


def result(rule, updates, staleness=None, weights=W):
    return aggregate(rule, rule.init(2, SIZES), weights, updates, staleness)[1]


def test_received_is_the_mean_by_data_size() -> None:
    # (100·14 + 300·10)/400 = 11, (100·4 + 300·8)/400 = 7.
    np.testing.assert_allclose(result(Received(), TWO), [11.0, 7.0])


def test_all_lets_the_absent_stand_in() -> None:
    # β = 1/8 and 3/8: 10 + 4/8 + 0, 0 + 4/8 + 24/8.
    np.testing.assert_allclose(result(All(), TWO), [10.5, 3.5])


def test_shrinkage_moves_by_two_sevenths() -> None:
    # n = 2, m = 5; the mean update is (1, 7).
    np.testing.assert_allclose(result(Shrinkage(m=5), TWO), [10 + 2 / 7, 2.0], rtol=1e-6)


def test_buffered_waits_for_enough() -> None:
    rule = Buffered(m=3)
    state, weights = aggregate(rule, rule.init(2, SIZES), W, TWO)
    np.testing.assert_array_equal(weights, W)
    assert (state.count, state.samples) == (2, 400)
    state, weights = aggregate(rule, state, W, [])
    np.testing.assert_array_equal(weights, W)
    state, weights = aggregate(rule, state, W, [update(2, (12.0, 2.0), slot=40)])
    # (100·14 + 300·10 + 400·12)/800 = 11.5, (100·4 + 300·8 + 400·2)/800 = 4.5.
    np.testing.assert_allclose(weights, [11.5, 4.5])
    assert state.count == 0
    assert not state.weights.any()


def test_what_age_takes_off_stays_with_the_model() -> None:
    # Alone and one epoch late with a = 1: half of the way to (14, 4).
    np.testing.assert_allclose(result(Received(), [update(0, (14.0, 4.0), 1)], Polynomial(a=1)), [12.0, 2.0])
    np.testing.assert_allclose(result(Buffered(m=1), [update(0, (14.0, 4.0), 1)], Polynomial(a=1)), [12.0, 2.0])


def test_a_discarded_update_leaves_the_others_their_full_weight() -> None:
    updates = [update(0, (14.0, 4.0)), update(1, (0.0, 0.0), 1)]
    np.testing.assert_allclose(result(Received(), updates, Discard(after=0)), [14.0, 4.0])


def test_discounts_by_hand() -> None:
    assert [Constant().discount(s) for s in (0, 9)] == [1, 1]
    assert [Polynomial(a=0.5).discount(s) for s in (0, 3)] == [1, 0.5]
    assert [Hinge(a=2, b=1).discount(s) for s in (0, 1, 2, 3)] == [1, 1, 1 / 3, 1 / 5]
    assert [Discard(after=2).discount(s) for s in (0, 2, 3)] == [1, 1, 0]


@pytest.mark.parametrize("name", AGGREGATIONS)
class TestEveryRule:
    def test_without_updates_the_model_stays(self, name: str) -> None:
        np.testing.assert_array_equal(result(AGGREGATIONS[name](), []), W)

    def test_the_order_of_arrival_changes_no_byte(self, name: str) -> None:
        rng = np.random.default_rng(0)
        rule = AGGREGATIONS[name]()
        weights = rng.standard_normal(50).astype(np.float32)
        sizes = np.array([3, 5, 7])
        updates = [
            Update(client, slot, rng.standard_normal(50).astype(np.float32), weights, 3, 0)
            for client, slot in ((0, 0), (0, 20), (1, 5), (2, 1))
        ]
        start = rule.init(50, sizes)
        for staleness in STALENESS.values():
            ends = {aggregate(rule, start, weights, order, staleness())[1].tobytes() for order in permutations(updates)}
            assert len(ends) == 1

    @pytest.mark.parametrize("broken", [np.nan, np.inf, -np.inf])
    def test_a_broken_update_is_refused_by_name(self, name: str, broken: float) -> None:
        with pytest.raises(UpdateError, match="client 1 that started in slot 33"):
            result(AGGREGATIONS[name](), [TWO[0], update(1, (broken, 1.0), slot=33)])

    def test_arguments_stay_as_they_are(self, name: str) -> None:
        rule, weights = AGGREGATIONS[name](), W.copy()
        state = rule.init(2, SIZES)
        before = repr(state)
        aggregate(rule, state, weights, TWO * 3)
        np.testing.assert_array_equal(weights, W)
        np.testing.assert_array_equal(TWO[0].weights, [14.0, 4.0])
        assert repr(state) == before
