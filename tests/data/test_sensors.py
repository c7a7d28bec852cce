"""The generated signals: whose they are, what they depend on, and how hard they are."""

import numpy as np
import pytest

from fallow import data
from fallow.errors import ConfigError
from fallow.experiment import Experiment
from fallow.simulation.learner_setup import load_dataset, split


def test_signals_have_the_size_and_the_owners_asked_for():
    dataset = data.load_dataset("sensors", seed=3, samples=500, test_samples=40, classes=4, length=80, clients=25)
    assert dataset.x.shape == (500, 3, 80)
    assert dataset.x.dtype == np.float32
    assert dataset.x_test.shape == (40, 3, 80)
    assert dataset.classes == 4
    sizes = np.bincount(dataset.client)
    assert len(sizes) == 25
    assert sizes.min() >= 1
    assert len(set(sizes.tolist())) > 5  # some wear their device more than others
    assert np.bincount(dataset.y_test).tolist() == [10, 10, 10, 10]


def test_signals_are_a_function_of_the_seed_and_the_test_set_of_nothing_else():
    first, again, other, more = (
        data.load_dataset("sensors", seed=seed, samples=samples, clients=10)
        for seed, samples in ((1, 200), (1, 200), (2, 200), (1, 400))
    )
    np.testing.assert_array_equal(first.x, again.x)
    np.testing.assert_array_equal(first.client, again.client)
    assert not np.array_equal(first.x_test, other.x_test)
    np.testing.assert_array_equal(first.x_test, more.x_test)


def test_each_wearer_has_a_gain_and_a_noise_of_its_own():
    dataset = data.load_dataset("sensors", seed=0, samples=5000, clients=10)
    # What changes from one point in time to the next is mostly noise.
    rough = [np.diff(dataset.x[dataset.client == wearer], axis=2).std() for wearer in range(10)]
    quiet = data.load_dataset("sensors", seed=0, samples=5000, clients=10, noise=0.0)
    strong = [quiet.x[quiet.client == wearer].std() for wearer in range(10)]
    assert max(rough) > 2 * min(rough)
    assert max(strong) > 1.3 * min(strong)


def test_fewer_signals_than_wearers_are_one_sentence():
    with pytest.raises(ConfigError, match=r"data.samples = 9 signals are too few for data.clients = 10 wearers"):
        data.load_dataset("sensors", seed=0, samples=9, clients=10)


def test_an_experiment_divides_signals_by_their_wearers_or_otherwise():
    settings = {"name": "sensors", "samples": 300, "clients": 12}
    natural = Experiment(clients=12, data={**settings, "partition": "natural"})
    dataset = load_dataset(natural)
    parts = split(natural, dataset)
    assert all((dataset.client[part] == client).all() for client, part in enumerate(parts))
    assert sum(map(len, parts)) == 300
    other = Experiment(clients=10, data={**settings, "partition": "iid", "sizes": "lognormal"})
    assert sum(map(len, split(other, dataset))) == 300


def test_signals_can_be_learnt_but_not_by_a_linear_model():
    from sklearn.linear_model import RidgeClassifier
    from sklearn.neighbors import KNeighborsClassifier

    dataset = data.load_dataset("sensors", seed=0, samples=3000, test_samples=1000)
    x, x_test = (dataset.normalised(part).reshape(len(part), -1) for part in (dataset.x, dataset.x_test))
    linear = RidgeClassifier(alpha=100).fit(x, dataset.y).score(x_test, dataset.y_test)
    nearest = KNeighborsClassifier(5).fit(x, dataset.y).score(x_test, dataset.y_test)
    assert 0.3 < linear < 0.65
    assert nearest > 0.8
