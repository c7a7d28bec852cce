"""What each policy chooses, worked by hand."""

from dataclasses import replace

import numpy as np
import pytest

from fallow.policies.fedavg import FedAvg
from fallow.policies.fullest_battery import FullestBattery
from fallow.policies.oldest import Oldest
from fallow.policies.random_k import RandomK
from fallow.policies.round_robin import RoundRobin
from fallow.policies.unlimited import Unlimited
from fallow.policies.vaoi import VAoI
from fallow.policies.vaoi_parameters import VAoIParameters
from tests.policies.views import chosen, frequency, rng, view


def test_vaoi_takes_the_oldest_and_ages_only_the_significant() -> None:
    policy = VAoI(k=1)
    state = replace(policy.init(4), age=np.array([1, 3, 2, 0], dtype=np.int32))
    state, mask = policy.select(state, view(distance=[0.6, 0.6, 0.4, 0.5]), rng())
    assert chosen(mask) == [1]
    assert state.age.tolist() == [2, 0, 2, 1]


def test_vaoi_reset_by_aggregation_forgets_only_what_was_received() -> None:
    policy = VAoI(k=1, reset="aggregated")
    state = replace(policy.init(3), age=np.array([1, 3, 2], dtype=np.int32))
    state, mask = policy.select(state, view(3, delivered=[False, True, False]), rng())
    assert chosen(mask) == [2]
    assert state.age.tolist() == [2, 1, 3]


def test_vaoi_breaks_ties_afresh_each_epoch() -> None:
    policy = VAoI(k=2)
    picks = {tuple(chosen(policy.select(policy.init(6), view(6), rng(seed))[1])) for seed in range(40)}
    assert len(picks) > 8


def test_vaoi_with_every_change_significant_visits_all_before_anyone_twice() -> None:
    policy, state, seen = VAoI(k=2), VAoI(k=2).init(6), []
    for epoch in range(6):
        state, mask = policy.select(state, view(6, epoch=epoch), rng(epoch))
        seen += chosen(mask)
    assert sorted(seen[:6]) == list(range(6))
    assert sorted(seen[6:]) == list(range(6))


def test_oldest_ignores_significance() -> None:
    policy = Oldest(k=1)
    state = replace(policy.init(3), age=np.array([0, 2, 1], dtype=np.int32))
    state, mask = policy.select(state, view(3, distance=[0, 0, 0]), rng())
    assert chosen(mask) == [1]
    assert state.age.tolist() == [1, 0, 2]


def test_fedavg_and_unlimited_select_everyone() -> None:
    assert FedAvg().select(None, view(3), rng())[1].all()
    assert Unlimited().select(None, view(3), rng())[1].all()


def test_random_k_selects_k_and_everyone_equally_often() -> None:
    counts = sum(RandomK(k=2).select(None, view(5), rng(seed))[1].astype(int) for seed in range(5000))
    assert counts.sum() == 10_000
    assert counts == pytest.approx(2000, abs=175)  # five standard deviations


def test_round_robin_wraps_around() -> None:
    policy = RoundRobin(k=3)
    state, first = policy.select(policy.init(4), view(4), rng())
    state, second = policy.select(state, view(4), rng())
    assert chosen(first) == [0, 1, 2]
    assert chosen(second) == [0, 1, 3]
    assert state.first == 2


def test_round_robin_with_more_turns_than_clients_takes_all_once() -> None:
    state, mask = RoundRobin(k=9).select(RoundRobin(k=9).init(4), view(4), rng())
    assert chosen(mask) == [0, 1, 2, 3]
    assert state.first == 0


def test_fullest_battery_selects_by_energy() -> None:
    assert chosen(FullestBattery(k=2).select(None, view(battery=[3, 9, 1, 7]), rng())[1]) == [1, 3]


@pytest.mark.parametrize("policy", [VAoI(k=1, choice="exp"), VAoIParameters(k=1, choice="exp")])
def test_vaoi_by_exp_draws_each_year_of_age_e_times_as_often(policy: VAoI) -> None:
    state = replace(policy.init(2), age=np.array([2000, 2001], dtype=np.int32))  # exp(2000) is no number
    picks = sum(policy.select(state, view(2), rng(seed))[1].astype(int) for seed in range(4000))
    assert picks[1] / 4000 == pytest.approx(np.e / (1 + np.e), abs=0.035)  # 0.731, five standard deviations


def test_vaoi_by_exp_draws_anyone_at_first() -> None:
    assert frequency(VAoI(k=2, choice="exp"), view(4)) == pytest.approx(0.5, abs=0.04)
