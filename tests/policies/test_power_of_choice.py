"""Power-of-choice, worked by hand."""

import math

import pytest

from fallow.policies import PowerOfChoice
from tests.policies.views import chosen, frequency, rng, view

NAN = math.nan


def test_the_candidate_with_the_larger_loss_is_taken_not_the_largest_of_all() -> None:
    seen = view(4, data_size=[0, 100, 100, 0], probe_loss=[9, 1, 2, 9])  # 1 and 2 are drawn before the empty clients
    assert chosen(PowerOfChoice(k=1, d=2).select(None, seen, rng())[1]) == [2]


def test_candidates_are_drawn_by_data_size() -> None:
    seen = view(2, data_size=[100, 300], probe_loss=[1, 1])
    assert frequency(PowerOfChoice(k=1, d=1), seen)[1] == pytest.approx(0.75, abs=0.035)


def test_a_client_that_could_not_pay_for_its_probe_goes_last() -> None:
    seen = view(3, data_size=[1, 1, 1], probe_loss=[NAN, 0.5, 0.1])
    assert chosen(PowerOfChoice(k=2, d=3).select(None, seen, rng())[1]) == [1, 2]


def test_by_the_last_loss_known_a_client_that_never_trained_goes_first() -> None:
    seen = view(3, data_size=[1, 1, 1], training_loss=[NAN, 0.5, 0.1])
    assert chosen(PowerOfChoice(k=2, d=3, variant="rpow-d").select(None, seen, rng())[1]) == [0, 1]


def test_there_are_never_fewer_candidates_than_places() -> None:
    seen = view(4, data_size=[1] * 4, probe_loss=[1] * 4)
    assert PowerOfChoice(k=3, d=1).select(None, seen, rng())[1].sum() == 3


def test_only_the_loss_that_is_read_is_declared() -> None:
    assert PowerOfChoice().needs.probes
    assert not PowerOfChoice(variant="rpow-d").needs.probes
