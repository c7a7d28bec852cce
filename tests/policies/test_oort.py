"""Oort and EAFL, worked by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from fallow.policies import EAFL, Oort
from fallow.policies.scoring import expected_slots
from tests.policies.views import chosen, frequency, rng, view

NAN = math.nan


def two(**others):
    """Two clients that delivered in epoch 8, seen in epoch 9; both can train at once."""
    given = {
        "training_loss": [1.0, 2.0],
        "data_size": [100, 100],
        "deliveries": [1, 1],
        "last_delivered": [8, 8],
        "mean_harvest": [1.0, 1.0],
        "battery": [25, 25],
    }
    return view(2, epoch=9, **(given | others))


def test_the_expected_duration_is_the_wait_for_energy_and_the_training() -> None:
    seen = view(4, battery=[21, 11, 0, 25], mean_harvest=[0.0, 0.5, 0.0, 0.1])
    # κ + c = 21: nothing missing, 10 / 0.5, never, nothing missing; each + 20 + 1
    assert expected_slots(seen).tolist() == [21, 41, math.inf, 21]


def test_the_exploited_are_drawn_by_utility_and_time_since() -> None:
    # U = 100 and 200; least 99.9, spread 100.1: 0.001 and 1. Uncertainty √(0.1 ln 10 / 9) = 0.160.
    # Scores 0.161 and 1.160: the second one is drawn with 1.160 / 1.321 = 0.878.
    assert frequency(Oort(k=1, exploration=0.0), two())[1] == pytest.approx(0.878, abs=0.026)


def test_who_was_heard_of_long_ago_scores_higher() -> None:
    # Equal utilities are 1 each. √(0.1 ln 10 / 1) = 0.480 and √(0.1 ln 10 / 9) = 0.160: 1.480 / 2.640
    seen = two(training_loss=[1.0, 1.0], last_delivered=[0, 8])
    assert frequency(Oort(k=1, exploration=0.0), seen)[0] == pytest.approx(0.561, abs=0.04)


def test_who_takes_twice_the_preferred_time_counts_a_quarter() -> None:
    # Equal utilities; t = 21 and (21 − 0) / 1 + 21 = 42. T is the ⌊0.3 · 2⌋th: 21.
    seen = two(training_loss=[1.0, 1.0], battery=[25, 0])
    assert frequency(Oort(k=1, exploration=0.0), seen)[0] == pytest.approx(0.8, abs=0.032)


def test_energy_is_three_quarters_of_eafls_utility() -> None:
    # 0.25 · 0.001 + 0.75 · 25/25 + 0.160 = 0.910 and 0.25 · 1 + 0 + 0.160 = 0.410
    seen = two(battery=[25, 0])
    policy = EAFL(k=1, exploration=0.0, penalty=0.0)
    assert frequency(policy, seen)[1] == pytest.approx(0.410 / 1.320, abs=0.037)


def test_at_first_all_places_are_for_exploration_and_later_a_share() -> None:
    policy = Oort(k=10)
    everyone = {"battery": [25] * 40, "mean_harvest": [0.1] * 40, "data_size": [1] * 40}
    unknown = {"training_loss": [NAN] * 40, "deliveries": [0] * 40, "last_delivered": [-1] * 40}
    state, mask = policy.select(policy.init(40), view(40, **everyone, **unknown), rng())
    assert mask.sum() == 10
    assert not state.exploited.any()
    assert state.epsilon == pytest.approx(0.9 * 0.98)
    half = {"training_loss": [1.0] * 20 + [NAN] * 20, "deliveries": [1] * 20 + [0] * 20}
    half |= {"last_delivered": [0] * 20 + [-1] * 20}
    state, mask = policy.select(state, view(40, epoch=1, **everyone, **half), rng())
    assert chosen(state.exploited) == [client for client in chosen(mask) if client < 20]
    assert state.exploited.sum() == 1  # ⌊10 · (1 − 0.864)⌋
    assert mask.sum() == 10


def test_a_client_that_trained_and_did_not_deliver_is_not_explored_yet() -> None:
    policy = Oort(k=1, exploration=0.0)
    state, mask = policy.select(policy.init(2), two(deliveries=[0, 1], last_delivered=[-1, 8]), rng())
    assert chosen(state.exploited) == chosen(mask) == [1]


def test_when_everyone_is_explored_exploration_ends_for_good() -> None:
    policy = Oort(k=2)
    state, mask = policy.select(policy.init(2), two(), rng())
    assert (state.epsilon, mask.all()) == (0.0, True)  # ⌊2 · 0.118⌋ = 0 exploited; chance fills both places
    state, _ = policy.select(state, two(), rng())
    assert (state.epsilon, state.exploited.all()) == (0.0, True)


def test_busy_clients_are_not_asked() -> None:
    policy = Oort(k=2)
    mask = policy.select(policy.init(2), two(training=[True, False]), rng())[1]
    assert chosen(mask) == [1]


@pytest.mark.parametrize(("now", "percentile"), [(100.0, 35.0), (111.0, 30.0), (599.0, 30.0), (600.0, 25.0)])
def test_the_pacer_moves_by_the_change_of_utility(now: float, percentile: float) -> None:
    # Before: 100. Changed by at most a tenth: T grows; by five times or more: T shrinks.
    policy = Oort(k=1, pace=5)
    state = replace(policy.init(2), utility_before=100.0, utility_now=now)
    state, _ = policy.select(state, two(), rng())  # epoch 9 is the tenth, the end of the second stretch
    assert (state.percentile, state.utility_before, state.utility_now) == (percentile, now, 0.0)


def test_the_pacer_counts_the_exploited_that_delivered() -> None:
    policy = Oort(k=1)
    state = replace(policy.init(2), exploited=np.array([True, True]))
    state, _ = policy.select(state, two(delivered=[False, True]), rng())
    assert state.utility_now == 200.0  # 100 samples with a loss of 2
