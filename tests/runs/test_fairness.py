"""How evenly things are spread over clients, worked by hand."""

import numpy as np
import pytest

from fallow.runs.fairness import jain_index, summarise_accuracy, worst_tenth


def test_jains_index_by_hand() -> None:
    # (0.2 + 0.4 + 0.6)² = 1.44; 3 · (0.04 + 0.16 + 0.36) = 1.68.
    assert jain_index(np.array([0.2, 0.4, 0.6])) == pytest.approx(1.44 / 1.68)
    assert jain_index(np.array([5.0, 5.0, 5.0, 5.0])) == 1
    assert jain_index(np.array([0.0, 0.0, 7.0, 0.0])) == 0.25
    assert jain_index(np.zeros(3)) is None


def test_the_worst_tenth_of_twenty_are_the_two_lowest() -> None:
    scores = np.linspace(1.0, 0.05, 20)  # … 0.15, 0.10, 0.05
    assert worst_tenth(scores) == pytest.approx((0.05 + 0.10) / 2)
    assert worst_tenth(scores[:19]) == pytest.approx(0.10)  # of nineteen, one
    assert worst_tenth(np.array([0.7, 0.3])) == 0.3


def test_the_summary_leaves_out_clients_without_samples() -> None:
    found = summarise_accuracy(np.array([0.2, np.nan, 0.6, 0.4]))
    assert found["client_accuracy_mean"] == pytest.approx(0.4)
    assert found["client_accuracy_sd"] == pytest.approx(((0.04 + 0.0 + 0.04) / 3) ** 0.5)
    assert found["client_accuracy_worst_tenth"] == 0.2
    assert found["jain_index_accuracy"] == pytest.approx(1.44 / 1.68)


def test_where_nobody_is_served_there_is_nothing_to_share() -> None:
    found = summarise_accuracy(np.zeros(4))
    assert (found["client_accuracy_worst_tenth"], found["jain_index_accuracy"]) == (0, None)
