"""The probe against sums over one client at a time."""

import numpy as np
import pytest
import torch
from torch.nn.functional import softmax

from fallow.learning.distances import distances, parameter_distances
from fallow.learning.local import train
from fallow.learning.options import SGD
from fallow.learning.probe import first_moments, mean_features, probe_batches
from fallow.learning.workers import Workers
from fallow.paper import feature_distance, probe_mean
from tests.learning.worlds import SEED, cohort, digits, shard, small

SHARDS = np.stack([shard(client) for client in range(200)])


def test_distances_are_those_of_one_client_at_a_time() -> None:
    network, samples = small(), digits(200)
    weights = network.weights()
    batches = probe_batches(SEED, 4, SHARDS, np.full(200, 3))
    trained = [train(small(), weights, training, samples, SGD(lr=0.1)) for training in cohort(3)]
    moments = np.full((200, 10), np.nan, dtype=np.float32)
    moments[:3] = [own.moment for own in trained]
    with Workers(network, 2) as workers:
        features = mean_features(workers, weights, samples, batches)
    distance = distances(features, moments)
    for client in range(3):
        x = (samples.images[batches[client]].float() / 255 - 0.5) / 0.25
        z = softmax(network.module(x), 1).detach().numpy()
        np.testing.assert_allclose(features[client], probe_mean(z), atol=1e-6)
        assert distance[client] == pytest.approx(feature_distance(probe_mean(z), moments[client]), abs=1e-5)
    assert np.isinf(distance[3:]).all()
    assert distance.dtype == np.float32


def test_a_distance_worked_by_hand() -> None:
    features = np.array([[0.5, 0.5], [1.0, 0.0], [0.2, 0.8]], np.float32)
    moments = np.array([[0.5, 0.5], [0.7, 0.4], [np.nan, np.nan]], np.float32)
    np.testing.assert_allclose(distances(features, moments), [0.0, 0.5, np.inf], rtol=1e-6)


def test_the_number_of_workers_changes_no_byte() -> None:
    network, samples = small(), digits(200)
    batches = probe_batches(SEED, 4, SHARDS, np.full(200, 5))
    results = set()
    for count in (1, 2, 4):
        with Workers(network, count) as workers:
            results.add(mean_features(workers, network.weights(), samples, batches).tobytes())
    assert len(results) == 1


def test_batches_are_drawn_without_replacement_afresh_each_epoch_or_once() -> None:
    sizes = np.full(200, 4)
    fresh = [np.stack(probe_batches(SEED, epoch, SHARDS, sizes)) for epoch in (0, 1)]
    fixed = [np.stack(probe_batches(SEED, epoch, SHARDS, sizes, "fixed")) for epoch in (0, 1)]
    assert (fresh[0] != fresh[1]).any()
    assert (fixed[0] == fixed[1]).all()
    for client, batch in enumerate(fresh[0]):
        assert len(set(batch)) == 4
        assert set(batch) <= set(SHARDS[client])


def test_every_sample_of_a_client_is_as_likely_as_another() -> None:
    drawn = np.stack([np.stack(probe_batches(SEED, epoch, SHARDS, np.full(200, 3))) for epoch in range(50)])
    counts = np.bincount(drawn.ravel() % 10, minlength=10)
    assert abs(counts - 3000).max() < 250  # five standard deviations of a binomial are 229


def test_shards_and_batches_of_unequal_size() -> None:
    shards = [np.arange(4), np.arange(4, 6), np.arange(6, 16)]
    batches = probe_batches(SEED, 0, shards, np.array([2, 5, 3]))
    assert [len(batch) for batch in batches] == [2, 2, 3]
    assert sorted(batches[1]) == [4, 5]


def test_first_moments() -> None:
    network, samples = small(), digits(200)
    with Workers(network, 1) as workers:
        assert np.isnan(first_moments("infinite", workers, network.weights(), samples, SHARDS)).all()
        assert not first_moments("zero", workers, network.weights(), samples, SHARDS).any()
        passed = first_moments("first-pass", workers, network.weights(), samples, SHARDS)
    with torch.no_grad():
        z = softmax(network.module(samples.batch(SHARDS[7])[0]), 1)
    np.testing.assert_allclose(passed[7], z.mean(0), atol=1e-6)


def test_parameter_distances_by_hand() -> None:
    found = parameter_distances(np.array([1.0, 2.0], np.float32), [np.array([4.0, 6.0], np.float32), None])
    np.testing.assert_allclose(found, [5.0, np.inf])
