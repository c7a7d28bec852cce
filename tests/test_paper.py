"""Every equation of the paper, pinned by numbers worked by hand."""

import numpy as np
import pytest

from fallow import paper


def ages(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int32)


def test_eq_1_global_risk_is_the_mean_of_local_risks() -> None:
    assert paper.global_risk([1.0, 2.0, 6.0]) == 3.0


def test_eq_2_and_7_age_grows_if_significant_stays_otherwise_and_resets_on_participation() -> None:
    distance = np.array([0.6, 0.5, 0.4, 9.0, 0.0, np.nan], dtype=np.float32)
    q = np.array([False, False, False, True, True, False])
    assert paper.next_version_age(ages(2, 0, 7, 3, 5, 4), distance, 0.5, q).tolist() == [3, 1, 7, 0, 0, 4]


def test_eq_7_leaves_its_arguments_alone() -> None:
    X, q = ages(1, 2), np.array([True, False])  # noqa: N806
    paper.next_version_age(X, np.array([1.0, 1.0], dtype=np.float32), 0.5, q)
    assert X.tolist() == [1, 2]


def test_eq_3_battery_after_rest_and_transmission() -> None:
    assert paper.battery_after_slot([4, 4, 0, 1], [0, 1, 1, 1], [1, 0, 1, 1]).tolist() == [5, 3, 1, 1]


def test_eq_4_battery_after_training_of_three_slots() -> None:
    harvest = [[1, 0], [1, 1], [0, 1]]
    assert paper.battery_after_training([5, 3], 3, harvest).tolist() == [4, 2]


def test_eq_5_feature_distance_is_euclidean() -> None:
    v = paper.probe_mean(np.array([[1.0, 2.0], [5.0, 2.0]]))
    assert v.tolist() == [3.0, 2.0]
    assert paper.feature_distance(v, np.array([0.0, 6.0])) == 5.0


def test_eq_6_historical_moment_weighs_samples_not_batches() -> None:
    batches = [np.array([[1.0], [2.0], [3.0]]), np.array([[10.0]])]
    assert paper.historical_moment(batches).tolist() == [4.0]


def test_line_20_weights_are_proportional_to_data() -> None:
    assert paper.superposition_weights([300, 100]).tolist() == [0.75, 0.25]


def test_alg_2_probabilities_are_ages_over_their_sum_and_equal_at_first() -> None:
    assert paper.selection_probabilities(ages(1, 3, 0)).tolist() == [0.25, 0.75, 0.0]
    assert paper.selection_probabilities(ages(0, 0)).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("k", "chosen"),
    [(1, [3]), (2, [3, 1]), (3, [3, 1, 4]), (4, [3, 1, 4, 0]), (5, [0, 1, 2, 3, 4]), (9, [0, 1, 2, 3, 4])],
)
def test_alg_2_takes_the_largest_and_among_equals_the_smallest_tie(k: int, chosen: list[int]) -> None:
    tie = np.array([0.3, 0.2, 0.9, 0.8, 0.7])
    mask = paper.largest(ages(1, 2, 1, 5, 2), k, tie)
    assert np.flatnonzero(mask).tolist() == sorted(chosen)


def test_alg_2_whole_selects_by_the_old_age_and_returns_the_new() -> None:
    distance = np.array([9.0, 0.1, 9.0], dtype=np.float32)
    selected, X_next = paper.client_select(ages(1, 4, 2), distance, 0.5, 1, np.array([0.1, 0.2, 0.3]))  # noqa: N806
    assert selected.tolist() == [False, True, False]
    assert X_next.tolist() == [2, 0, 3]


def test_sampling_takes_age_zero_only_when_the_others_run_out() -> None:
    tie = np.array([0.9, 0.5, 0.1, 0.2])
    assert paper.sampled(ages(0, 3, 0, 0), 2, tie).tolist() == [False, True, True, False]


def test_sampling_survives_a_tie_number_of_zero() -> None:
    assert paper.sampled(ages(0, 1), 1, np.array([0.0, 0.5])).tolist() == [False, True]


def test_sampling_is_proportional_to_age_without_replacement() -> None:
    # Weights 1, 2, 3 and k = 2. P(client 0 is left out) = P(1 then 2) + P(2 then 1) = 2/6·3/4 + 3/6·2/3 = 7/12.
    rng, rounds = np.random.default_rng(1), 20_000
    left_out = sum(not paper.sampled(ages(1, 2, 3), 2, rng.random(3))[0] for _ in range(rounds))
    assert left_out / rounds == pytest.approx(7 / 12, abs=0.015)  # four standard deviations
