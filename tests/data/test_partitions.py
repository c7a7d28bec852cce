"""Partitions: exact, disjoint, deterministic, and as skewed as they say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fallow import data
from fallow.data.from_arrays import dataset_from_arrays
from fallow.data.label_mix import label_mix
from fallow.data.partitions.dirichlet import Dirichlet, allot
from fallow.data.partitions.iid import Iid
from fallow.data.partitions.one_class import OneClass
from fallow.errors import ConfigError

TEN_CLASSES = np.repeat(np.arange(10), 500)
TEN = dataset_from_arrays("ten", np.zeros((5000, 1)), TEN_CLASSES, np.zeros((1, 1)), np.zeros(1, dtype=int))


def equal(clients: int, samples: int) -> np.ndarray:
    return np.full(clients, samples)


@st.composite
def tasks(draw):
    """Labels and sizes that just fit, or fit with room."""
    sizes = np.array(draw(st.lists(st.integers(1, 12), min_size=1, max_size=8)))
    spare = draw(st.integers(0, 30))
    labels = st.integers(0, draw(st.integers(1, 5)))
    size = int(sizes.sum()) + spare
    y = np.array(draw(st.lists(labels, min_size=size, max_size=size)))
    return y, sizes


def check_parts(parts, y, sizes):
    """Each client has exactly its size, sorted, and nobody the same."""
    assert [len(part) for part in parts] == sizes.tolist()
    assert all(part.dtype == np.int64 for part in parts)
    assert all((np.diff(part) > 0).all() for part in parts)
    every = np.concatenate(parts)
    assert np.unique(every).size == every.size
    assert every.min() >= 0
    assert every.max() < len(y)


def same(one, two):
    return len(one) == len(two) and all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


@given(tasks(), st.floats(1e-3, 1e3), st.integers(0, 2**63 - 1))
@settings(max_examples=150, deadline=None)
def test_dirichlet_gives_everyone_exactly_its_size_and_nobody_the_same(task, alpha, seed):
    y, sizes = task
    parts = Dirichlet(alpha).split(y, sizes, seed)
    check_parts(parts, y, sizes)
    assert same(parts, Dirichlet(alpha).split(y, sizes, seed))


@given(tasks(), st.integers(0, 2**63 - 1))
@settings(max_examples=50, deadline=None)
def test_iid_gives_everyone_exactly_its_size_and_nobody_the_same(task, seed):
    y, sizes = task
    parts = Iid().split(y, sizes, seed)
    check_parts(parts, y, sizes)
    assert same(parts, Iid().split(y, sizes, seed))


@given(
    shares=st.lists(st.floats(0, 1), min_size=3, max_size=3).filter(lambda s: sum(s) > 0),
    left=st.lists(st.integers(0, 9), min_size=3, max_size=3),
    part=st.floats(0, 1),
    seed=st.integers(0, 2**32),
)
def test_nobody_takes_more_than_a_class_has_left(shares, left, part, seed):
    left = np.array(left)
    samples = int(part * left.sum())
    taken = allot(np.array(shares) / sum(shares), left, samples, np.random.default_rng(seed))
    assert taken.sum() == samples
    assert (taken <= left).all()
    assert (taken >= 0).all()


def test_a_class_that_runs_out_is_made_up_for_by_the_others_the_client_wants():
    # All of the client's wish is class 0, which has 2; its next wish, class 2, has enough; class 1 it does not want.
    taken = allot(np.array([1 - 1e-9, 0.0, 1e-9]), np.array([2, 9, 9]), 5, np.random.default_rng(0))
    assert taken.tolist() == [2, 0, 3]


def test_where_no_wish_is_left_the_rest_is_taken_from_what_is_there():
    taken = allot(np.array([1.0, 0.0, 0.0]), np.array([2, 0, 3]), 5, np.random.default_rng(0))
    assert taken.tolist() == [2, 0, 3]


def test_without_a_wish_classes_are_taken_in_proportion_to_what_is_left():
    taken = allot(np.array([1.0, 0.0, 0.0]), np.array([0, 10_000, 30_000]), 4000, np.random.default_rng(0))
    assert taken[1] == pytest.approx(1000, abs=150)


def test_a_large_alpha_approaches_iid():
    parts = Dirichlet(1e6).split(TEN_CLASSES, equal(10, 400), seed=0)
    counts = label_mix(TEN_CLASSES, parts, 10)
    # 40 of each class, with the deviation 6 of a multinomial draw; 4,000 of 5,000 samples leave classes room.
    assert np.abs(counts - 40).max() < 30


def test_a_small_alpha_gives_a_client_one_class():
    parts = Dirichlet(1e-4).split(TEN_CLASSES, equal(10, 40), seed=0)  # each class could supply all ten clients
    assert (label_mix(TEN_CLASSES, parts, 10).max(axis=1) == 40).all()


def test_the_skew_falls_as_alpha_grows():
    def largest_share(alpha):
        return label_mix(TEN_CLASSES, Dirichlet(alpha).split(TEN_CLASSES, equal(50, 50), 7), 10).max(axis=1).mean() / 50

    shares = [largest_share(alpha) for alpha in (0.1, 1.0, 10.0)]
    assert shares[0] > 0.5 > shares[1] > 0.25 > shares[2]


def test_the_shares_are_dirichlet_shares():
    # For Dirichlet(α) over K classes a share has the mean 1/K and the variance (K−1)/(K²(Kα+1)): here 0.25 and 0.0625.
    y = np.repeat(np.arange(4), 100_000)
    parts = Dirichlet(0.5).split(y, equal(1000, 100), seed=1)
    shares = label_mix(y, parts, 4) / 100
    assert shares.mean(axis=0) == pytest.approx(0.25, abs=0.03)
    # A multinomial count of 100 adds E[p(1−p)]/100 = (0.25 − 0.125)/100 = 0.00125.
    assert shares.var(axis=0) == pytest.approx(0.0625 + 0.00125, rel=0.1)


def test_a_clients_wishes_do_not_depend_on_how_many_others_there_are():
    few = label_mix(TEN_CLASSES, Dirichlet(0.1).split(TEN_CLASSES, equal(3, 20), seed=4), 10)
    many = label_mix(TEN_CLASSES, Dirichlet(0.1).split(TEN_CLASSES, equal(6, 20), seed=4), 10)
    np.testing.assert_array_equal(few, many[:3])


def test_no_place_in_the_row_of_clients_is_worse():
    # One class has 5 of 100 samples. Those who choose first get them: over the seeds that must be anyone.
    y = np.array([0] * 5 + [1] * 95)
    rare = sum(label_mix(y, Dirichlet(1.0).split(y, equal(10, 10), seed), 2)[:, 0] for seed in range(400))
    assert rare.sum() == 2000
    assert rare.min() > 120
    assert rare.max() < 280


def test_the_whole_training_set_can_be_dealt_out():
    parts = Dirichlet(0.1).split(TEN_CLASSES, equal(50, 100), seed=2)
    assert np.unique(np.concatenate(parts)).size == 5000


def test_labels_that_do_not_occur_do_no_harm():
    y = np.array([3, 7] * 10)
    assert np.unique(np.concatenate(Dirichlet(0.1).split(y, equal(4, 5), seed=0))).size == 20
    assert set(y[OneClass().split(y, equal(2, 5), seed=0)[0]]) in ({3}, {7})


@given(st.integers(1, 30), st.integers(1, 10), st.integers(0, 2**63 - 1))
@settings(max_examples=50, deadline=None)
def test_one_class_gives_each_client_one_class_and_each_class_its_share(clients, samples, seed):
    y = np.repeat(np.arange(7), 50)
    sizes = 1 + np.arange(clients) * samples % 10  # from 1 to 10, so that five clients have at most a class
    parts = OneClass().split(y, sizes, seed)
    check_parts(parts, y, sizes)
    assert all(np.unique(y[part]).size == 1 for part in parts)
    owners = np.bincount([y[part[0]] for part in parts], minlength=7)
    assert owners.max() - owners.min() <= 1
    assert same(parts, OneClass().split(y, sizes, seed))


def test_one_class_says_which_class_is_too_small():
    y = np.array([0] * 20 + [1] * 3)
    with pytest.raises(ConfigError, match=r"Class 1 has 3 training samples, but the 1 clients that get it need 4"):
        OneClass().split(y, equal(2, 4), seed=0)


DIVIDING = [name for name in data.PARTITIONS if name != "natural"]


@pytest.mark.parametrize("name", DIVIDING)
def test_more_than_there_is_is_refused_with_both_numbers(name):
    with pytest.raises(ConfigError, match=r"100 clients with 300 samples each need 30000 .* the dataset has 5000"):
        data.partition(name, TEN, 100, seed=0, samples_per_client=300)
    with pytest.raises(ConfigError, match=r"2 clients with the sizes given need 5001 .* the dataset has 5000"):
        data.partition(name, TEN, 2, seed=0, sizes=[5000, 1])


@pytest.mark.parametrize("partition", [Dirichlet(), Iid(), OneClass()])
def test_nobody_and_nothing_are_refused(partition):
    with pytest.raises(ConfigError, match="no clients"):
        partition.split(TEN_CLASSES, equal(0, 5), seed=0)
    with pytest.raises(ConfigError, match="Client 1 would have 0 training samples, and each needs at least one"):
        partition.split(TEN_CLASSES, np.array([5, 0, 5]), seed=0)


@pytest.mark.parametrize("name", DIVIDING)
def test_another_seed_gives_other_parts(name):
    first, other = (data.partition(name, TEN, 10, seed, samples_per_client=30) for seed in (0, 1))
    assert not same(first, other)


@pytest.mark.parametrize("alpha", [0.0, -1.0, float("nan"), float("inf")])
def test_an_impossible_alpha_is_refused(alpha):
    with pytest.raises(ConfigError, match="alpha"):
        data.partition("dirichlet", TEN, 10, 0, samples_per_client=10, options={"alpha": alpha})
    with pytest.raises(ConfigError, match="alpha"):
        Dirichlet(alpha).split(TEN_CLASSES, equal(10, 10), 0)


def test_an_unknown_partition_or_option_is_one_sentence():
    with pytest.raises(ConfigError, match="did you mean 'dirichlet'"):
        data.partition("dirichlett", TEN, 10, 0)
    with pytest.raises(ConfigError, match="The partition 'iid' has no option 'alpha'; it has none"):
        data.partition("iid", TEN, 10, 0, options={"alpha": 1.0})


@pytest.mark.parametrize(
    ("wanted", "samples", "clients", "expected"),
    [(0, 50_000, 100, 300), (0, 1437, 100, 14), (0, 5, 100, 1), (15, 1437, 100, 15), (15, 5, 100, 15)],
)
def test_samples_per_client_are_the_papers_or_as_many_as_there_are(
    wanted: int, samples: int, clients: int, expected: int
) -> None:
    assert data.samples_per_client(wanted, samples, clients) == expected
