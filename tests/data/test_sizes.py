"""How many samples each client has: drawn, given, or as the dataset's owners have them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fallow import data
from fallow.data.from_arrays import dataset_from_arrays
from fallow.data.sizes import apportion, draw_sizes
from fallow.errors import ConfigError
from fallow.experiment import Experiment
from fallow.rng import Purpose, stream


def test_a_lognormal_draw_worked_by_hand():
    # Three clients of 5 on average: one sample each, and 12 more in proportion to exp(2·z_i).
    z = stream(7, Purpose.SIZES).standard_normal(3)
    weight = [float(np.exp(2 * value)) for value in z]
    exact = [12 * own / sum(weight) for own in weight]
    whole = [int(share) for share in exact]
    rounded_up = sorted(range(3), key=lambda i: whole[i] - exact[i])[: 12 - sum(whole)]
    expected = [1 + whole[i] + (i in rounded_up) for i in range(3)]
    assert draw_sizes("lognormal", 3, 5, seed=7, spread=2.0).tolist() == expected
    assert sum(expected) == 15


def test_apportioning_worked_by_hand():
    # 10 · (0.55, 0.27, 0.18) = 5.5, 2.7, 1.8: two are left over, for the remainders .8 and .7.
    assert apportion(np.array([0.55, 0.27, 0.18]), 10).tolist() == [5, 3, 2]
    assert apportion(np.array([0.25, 0.25, 0.25, 0.25]), 6).tolist() == [2, 2, 1, 1]  # a tie goes to the first
    assert apportion(np.array([1.0, 0.0]), 3).tolist() == [3, 0]


@given(st.integers(1, 300), st.integers(1, 60), st.floats(0, 50), st.integers(0, 2**63 - 1))
@settings(max_examples=150, deadline=None)
def test_sizes_have_the_mean_asked_for_and_nobody_has_none(clients, mean, spread, seed):
    sizes = draw_sizes("lognormal", clients, mean, seed, spread)
    assert sizes.dtype == np.int64
    assert sizes.sum() == clients * mean
    assert sizes.min() >= 1


def test_no_spread_is_equal():
    np.testing.assert_array_equal(draw_sizes("lognormal", 37, 40, 3, spread=0.0), np.full(37, 40))


def test_the_logarithm_of_sizes_has_the_spread_asked_for():
    logarithm = np.log(draw_sizes("lognormal", 5000, 1000, seed=1, spread=0.5) - 1)
    assert logarithm.std() == pytest.approx(0.5, rel=0.05)


def test_sizes_are_a_function_of_the_seed():
    first, again, other = (draw_sizes("lognormal", 20, 40, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"sizes": "lognorm"}, "data.sizes = 'lognorm' must be 'equal' or 'lognormal'; did you mean 'lognormal'"),
        ({"sizes": [5, 0, 5]}, r"data.sizes\[1\] = 0 must be at least 1"),
        ({"sizes": [5, 5]}, "data.sizes has 2 numbers for 3 clients; give one for each client"),
        ({"sizes": [5, 5, 5], "samples_per_client": 5}, "samples_per_client = 5 can't be together with a list"),
        ({"spread": -1.0}, "data.spread = -1.0 must be at least 0"),
        (
            {"partition": "natural", "sizes": "lognormal"},
            "data.sizes can't be together with data.partition = 'natural'",
        ),
        (
            {"partition": "natural", "samples_per_client": 5},
            "data.samples_per_client = 5 can't be together with data.p",
        ),
    ],
)
def test_sizes_that_can_not_be_are_one_sentence(settings, words):
    with pytest.raises(ConfigError, match=words):
        Experiment(clients=3, policy={"k": 1}, data=settings)


def owned(client):
    x, y = np.zeros((len(client), 4)), np.arange(len(client)) % 2
    return dataset_from_arrays("owned", x, y, x, y, client=None if client is None else np.array(client))


def test_the_natural_partition_is_who_owns_what():
    parts = data.partition("natural", owned([2, 0, 1, 0, 2, 2]), 3, seed=0)
    assert [part.tolist() for part in parts] == [[1, 3], [2], [0, 4, 5]]


@pytest.mark.parametrize(
    ("client", "words"),
    [
        ([0, 1, 2], "has the samples of 3 clients, but clients = 2; set clients = 3"),
        ([0, 0, 0], "has the samples of 1 clients, but clients = 2"),
        ([1, 1, 1], "has no sample of client 0, and each client needs at least one; number the clients .* 0 to 0"),
    ],
)
def test_owners_that_are_not_the_clients_are_one_sentence(client, words):
    with pytest.raises(ConfigError, match=f"The dataset 'owned' {words}"):
        data.partition("natural", owned(client), 2, seed=0)


def test_a_dataset_without_owners_has_no_natural_partition():
    with pytest.raises(ConfigError, match="'digits' does not say which client each sample belongs to"):
        data.partition("natural", data.load_dataset("digits", seed=0), 10, seed=0)
