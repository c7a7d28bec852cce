"""The guard before the rules, on numbers worked by hand."""

import numpy as np
import pytest

from fallow.aggregation import Guard, Update
from fallow.aggregation.guard import SEEN

ONES = np.ones(4, np.float32)  # its length is 2
NOTHING = np.zeros(0)


def updates(*steps: float, start=ONES, clients=None) -> list[Update]:
    """Updates that move every one of four numbers by a step: each moves the model by two steps."""
    return [Update(clients[i] if clients else i, i, start + np.float32(step), start, 1) for i, step in enumerate(steps)]


def refused(guard: Guard, seen, given: list[Update]) -> list[int]:
    return [refusal.update.slot for refusal in guard.sift(np.array(seen, dtype=float), given).refused]


def test_a_move_is_compared_with_the_median_of_the_others() -> None:
    # Moves of 2, 4, 6 and 60: the others of the last have the median 4, and 10 · 4 < 60.
    assert refused(Guard(10), [], updates(1, 2, 3, 30)) == [3]
    assert refused(Guard(15), [], updates(1, 2, 3, 30)) == []


def test_of_two_in_the_middle_the_median_is_the_smaller() -> None:
    """So two that are ruined alike do not vouch for each other beside one that is sound."""
    assert refused(Guard(10), [], updates(1, 1e30, 1e30)) == [1, 2]


def test_a_move_may_go_as_far_as_what_came_before_lets_it() -> None:
    assert refused(Guard(10), [6.0], updates(30, 1)) == []  # 60 ≤ 10 · 6, though ten times the other's is 20
    assert refused(Guard(10), [5.0], updates(30, 1)) == [0]


def test_others_vouch_for_ten_times_what_came_before_and_no_more() -> None:
    """So a round in which all are ruined does not ruin the model."""
    assert refused(Guard(10), [0.5], updates(20, 20, 20)) == []  # moves of 40, beside 40, and 10 · 10 · 0.5 = 50
    assert refused(Guard(10), [0.5], updates(26, 26, 26)) == [0, 1, 2]


def test_an_update_alone_is_compared_with_what_came_before() -> None:
    assert refused(Guard(10), [2.0, 2.0, 400.0], updates(1e30)) == [0]
    assert refused(Guard(10), [2.0, 2.0, 400.0], updates(9)) == []


def test_the_first_update_of_all_is_compared_with_the_model() -> None:
    assert refused(Guard(10), [], updates(10)) == []  # it moves by 20, ten times the model's 2
    assert refused(Guard(10), [], updates(11)) == [0]
    assert refused(Guard(10), [], updates(1e30, start=np.zeros(4, np.float32))) == []


def test_a_move_that_is_no_longer_than_the_model_is_never_refused() -> None:
    assert refused(Guard(10), [1e-9], updates(1, 1e-9, 1e-9)) == []
    assert refused(Guard(10), [1e-9], updates(1.1, 1e-9, 1e-9)) == [0]


def test_a_client_does_not_vouch_for_itself() -> None:
    assert refused(Guard(10), [1.0], updates(1e30, 1e30, clients=[3, 3])) == [0, 1]


def test_the_largest_numbers_that_a_node_can_send_are_compared_too() -> None:
    assert refused(Guard(10), [], updates(1, 2, 3.4e38)) == [2]


def test_only_what_is_accepted_is_remembered_and_the_last_of_it() -> None:
    seen, kept, out = Guard(10).sift(np.full(SEEN, 2.0), updates(1, 2, 1e30))
    assert seen.tolist() == [2.0] * (SEEN - 2) + [2.0, 4.0]
    assert [update.slot for update in kept] == [0, 1]
    assert [(one.update.client, one.limit) for one in out] == [(2, 20.0)]
    assert out[0].distance == pytest.approx(2e30)
    assert "moved the model by 2e+30, and 20 is the most" in out[0].in_words()


def test_an_epoch_without_updates_changes_nothing() -> None:
    seen, kept, out = Guard(10).sift(np.array([3.0]), [])
    assert (seen.tolist(), kept, out) == ([3.0], [], [])
