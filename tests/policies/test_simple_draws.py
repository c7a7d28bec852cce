"""CyCP and battery-weighted, worked by hand."""

import pytest

from fallow.policies import BatteryWeighted, CyCP
from tests.policies.views import chosen, frequency, rng, view


def test_groups_take_turns_and_stay() -> None:
    policy = CyCP(k=10, groups=3)
    state, turns = policy.init(7), []
    for epoch in range(6):
        state, mask = policy.select(state, view(7, epoch=epoch), rng(epoch))
        turns.append(chosen(mask))
    assert sorted(turns[0] + turns[1] + turns[2]) == list(range(7))
    assert turns[:3] == turns[3:]
    assert [len(turn) for turn in turns[:3]] == [3, 2, 2]


def test_groups_are_drawn_at_random_and_k_of_them_too() -> None:
    assert frequency(CyCP(k=1, groups=2), view(4)) == pytest.approx(0.25, abs=0.035)


def test_a_client_that_joins_later_gets_a_group() -> None:
    policy = CyCP(k=10, groups=2)
    state, _ = policy.select(policy.init(3), view(3), rng())
    state.group[2] = -1
    joined, _ = policy.select(state, view(3, epoch=1), rng())
    assert joined.group[:2].tolist() == state.group[:2].tolist()
    assert joined.group[2] == 0


def test_clients_are_drawn_by_the_square_of_their_charge() -> None:
    # Charges 20/25, 10/25, 4/25 and 0: 16 : 4, and who has less than a fifth is not drawn.
    seen = view(4, battery=[20, 10, 4, 0])
    assert frequency(BatteryWeighted(k=1), seen) == pytest.approx([0.8, 0.2, 0, 0], abs=0.032)


def test_too_few_charged_clients_are_all_that_is_drawn() -> None:
    assert chosen(BatteryWeighted(k=3).select(None, view(4, battery=[5, 4, 25, 0]), rng())[1]) == [0, 2]
