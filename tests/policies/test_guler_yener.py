"""Güler–Yener, worked by hand."""

import numpy as np
import pytest

from fallow.policies import GulerYener, Weigher
from fallow.policies.guler_yener import period_epochs
from tests.policies.views import chosen, rng, view


def test_a_period_is_the_time_that_an_updates_energy_takes() -> None:
    # κ + c = 21 units, S = 30 slots: 21 / (30 · 0.1) = 7, 21 / 30 → 1, 21 / (30 · 0.01) = 70, none; 21/15 → 2
    seen = view(5, mean_harvest=[0.1, 1.0, 0.01, 0.0, 0.5])
    assert period_epochs(seen).tolist() == [7, 1, 70, 0, 2]


def test_each_client_trains_once_a_period_in_any_of_its_epochs() -> None:
    policy = GulerYener()
    firsts = []
    for seed in range(1400):
        state, taken = policy.init(1), []
        for epoch in range(14):
            seen = view(1, epoch=epoch, battery=[25], mean_harvest=[0.1])
            state, mask = policy.select(state, seen, rng(1000 * seed + epoch))
            taken += [epoch] if mask[0] else []
        assert [epoch // 7 for epoch in taken] == [0, 1]
        firsts.append(taken[0])
    assert np.bincount(firsts, minlength=7) == pytest.approx(200, abs=66)  # five standard deviations


def test_a_turn_waits_for_its_energy_and_lapses_with_its_period() -> None:
    policy = GulerYener()
    for seed in range(20):
        state, taken = policy.init(2), []
        for epoch in range(7):
            level = [20, 21 if epoch == 6 else 20]
            state, mask = policy.select(state, view(2, epoch=epoch, battery=level, mean_harvest=[0.1, 0.1]), rng(seed))
            taken.append(chosen(mask))
        assert taken == [[], [], [], [], [], [], [1]]


def test_a_client_that_harvested_nothing_has_no_period() -> None:
    policy = GulerYener()
    state, mask = policy.select(policy.init(1), view(1, battery=[25], mean_harvest=[0.0]), rng())
    assert not mask.any()
    state, mask = policy.select(state, view(1, epoch=1, battery=[25], mean_harvest=[1.0]), rng())
    assert mask.all()


def test_a_rare_client_counts_for_more() -> None:
    absolute, relative = GulerYener(scale="absolute"), GulerYener()
    assert isinstance(relative, Weigher)
    state = relative.init(3)
    assert relative.importance(state).tolist() == absolute.importance(state).tolist() == [1, 1, 1]
    for epoch in range(7):
        seen = view(3, epoch=epoch, battery=[25, 25, 25], mean_harvest=[0.1, 1.0, 0.0])
        state, _ = relative.select(state, seen, rng(epoch))
    assert absolute.importance(state).tolist() == [7, 1, 1]
    assert relative.importance(state).tolist() == [7 / 4, 1 / 4, 1]  # over the mean of 7 and 1
