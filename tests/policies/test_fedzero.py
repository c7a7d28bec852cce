"""FedZero's idea, worked by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from fallow.policies import FedZero
from tests.policies.views import chosen, rng, view

NAN = math.nan


def four(**others):
    """Four clients that trained, with utilities 1, 2, 3 and 4, and no harvest to come."""
    given = {
        "training_loss": [1, 2, 3, 4],
        "data_size": [1] * 4,
        "deliveries": [1] * 4,
        "forecast": np.zeros((4, 2)),
        "battery": [25] * 4,
    }
    return view(4, **(given | others))


def select(policy: FedZero, **others) -> list[int]:
    return chosen(policy.select(policy.init(4), four(**others), rng())[1])


def test_the_most_useful_of_those_with_energy_are_taken() -> None:
    assert select(FedZero(k=2)) == [2, 3]
    assert select(FedZero(k=2), battery=[25, 25, 25, 20]) == [1, 2]  # 20 units train and can't send
    assert select(FedZero(k=2), training=[False, False, True, False]) == [1, 3]


def test_the_shortest_horizon_that_serves_k_decides_not_the_most_useful() -> None:
    # 0 and 1 can finish in this epoch, 3 only in the next: two are wanted, so 3 has to wait, and with three not.
    forecast = [[0, 0], [1, 0], [0, 0], [0, 1]]
    battery = [21, 20, 0, 20]
    assert select(FedZero(k=2), battery=battery, forecast=forecast) == [0, 1]
    assert select(FedZero(k=3), battery=battery, forecast=forecast) == [0, 1, 3]


def test_while_fewer_than_k_can_finish_nobody_trains() -> None:
    assert select(FedZero(k=3), battery=[25, 25, 0, 0]) == []


def test_a_forecast_that_is_no_number_or_negative_is_nothing() -> None:
    assert select(FedZero(k=1), battery=[20, 20, 20, 21], forecast=[[NAN, NAN], [-9, 1], [NAN, 0], [-9, NAN]]) == [3]


def test_a_client_that_never_trained_goes_first() -> None:
    assert select(FedZero(k=1), training_loss=[NAN, 2, 3, 4]) == [0]


@pytest.mark.parametrize(("exclusion", "blocked"), [(1.0, [1, 2, 3]), (0.5, [1, 2]), (0.0, [])])
def test_the_least_useful_of_those_that_delivered_rest(exclusion: float, blocked: list[int]) -> None:
    seen = four(delivered=[False, True, True, True], deliveries=[0, 900, 900, 900])  # hardly ever released
    policy = FedZero(k=1, exclusion=exclusion, alpha=1e-9)
    assert chosen(policy.select(policy.init(4), seen, rng())[0].blocked) == blocked


def test_a_client_is_released_with_alpha_over_what_it_did_above_the_mean() -> None:
    policy = FedZero(k=1)
    state = replace(policy.init(4), blocked=np.ones(4, dtype=bool))
    seen = four(deliveries=[4, 0, 0, 0])  # ω = 1: client 0 with 1/(4 − 1), the others at once
    after = [policy.select(state, seen, rng(seed))[0].blocked for seed in range(3000)]
    assert np.mean(after, axis=0) == pytest.approx([2 / 3, 0, 0, 0], abs=0.043)


def test_the_forecast_is_declared_with_its_error() -> None:
    needs = FedZero(forecast_epochs=7, forecast_error=0.5).needs
    assert (needs.forecast_epochs, needs.forecast_error) == (7, 0.5)
