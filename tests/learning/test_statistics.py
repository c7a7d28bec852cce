"""Running statistics: the last numbers of the weights, and clients that keep their own."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from fallow.aggregation import Update, aggregate
from fallow.aggregation.received import Received
from fallow.errors import ConfigError
from fallow.learning.cohort import train_cohort
from fallow.learning.kept_statistics import KeptStatistics
from fallow.learning.local import train
from fallow.learning.network import Network
from fallow.learning.options import SGD, Strategy
from fallow.learning.probe import mean_features, probe
from fallow.learning.samples import Samples, samples_from_arrays
from fallow.learning.state import Trained
from fallow.learning.statistics import check_batches, check_kept, with_statistics
from fallow.learning.training import Training, plan_training
from fallow.learning.workers import Workers
from fallow.models import ResNet18GN
from tests.learning.worlds import cohort, digits, dropping, named, normalised, shard, small


def tiny() -> Network:
    """Normalises one number, then two logits: four parameters and a mean and a variance."""
    return Network(nn.Sequential(nn.BatchNorm1d(1), nn.Linear(1, 2, bias=False)), (1,), 2, "logits")


def numbers(*values: float) -> Samples:
    inputs = np.array(values, dtype=np.float32)[:, None]
    return samples_from_arrays(inputs, np.zeros(len(values), dtype=np.int64), (0.0,), (1.0,))


@pytest.mark.parametrize("strategy", ["spread", "stacked"])
def test_running_statistics_worked_by_hand(strategy: Strategy) -> None:
    network, samples = tiny(), numbers(1, 3, 5, 7)
    training = Training(client=0, slot=0, order=np.arange(4), batch_size=2, least_batch=2)
    with Workers(network, 1) as workers:
        (trained,) = train_cohort(workers, strategy, network.weights(), [training], samples, SGD())
    # Batches (1, 3) and (5, 7) have means 2 and 6 and variances 2; a tenth of each goes into the running numbers:
    # 0.9·0 + 0.1·2 = 0.2, 0.9·0.2 + 0.1·6 = 0.78; 0.9·1 + 0.1·2 = 1.1, 0.9·1.1 + 0.1·2 = 1.19.
    np.testing.assert_allclose(trained.weights[-2:], [0.78, 1.19], rtol=1e-6)


def test_probes_use_running_statistics_and_change_none() -> None:
    network, samples = tiny(), numbers(1, 3)
    weights = np.array([1, 0, 1, -1, 0.5, 4], np.float32)
    with Workers(network, 1) as workers:
        features = mean_features(workers, weights, samples, [np.arange(2)])
        workers.map(lambda own, _: np.testing.assert_array_equal(own.weights(), weights), [0])
    # (1 − ½) / 2 = 0.25 and (3 − ½) / 2 = 1.25, with 10⁻⁵ added to the variance; their mean is 0.75.
    np.testing.assert_allclose(features, [[0.75, -0.75]], rtol=1e-5)


def test_statistics_are_the_last_numbers_of_the_weights_and_survive_the_round() -> None:
    network = normalised()
    assert network.statistics == [f"{k}.running_{kind}" for k in (1, 2, 6) for kind in ("mean", "var")]
    assert list(network.shapes)[-6:] == network.statistics
    assert network.size - network.trained == 2 * (4 + 4 + 8)
    weights = np.random.default_rng(0).random(network.size, dtype=np.float32)
    network.load(weights)
    assert np.array_equal(network.weights(), weights)
    assert np.array_equal(network.named_arrays(weights)["6.running_var"], weights[-8:])


def test_statistics_are_averaged_like_weights() -> None:
    updates = [Update(0, 0, np.array([1, 0.4], np.float32), 10), Update(1, 0, np.array([3, 0.8], np.float32), 30)]
    _, weights = aggregate(Received(), Received().init(2, np.array([10, 30])), np.zeros(2, np.float32), updates)
    np.testing.assert_allclose(weights, [2.5, 0.7], rtol=1e-6)


def test_the_optimiser_leaves_statistics_alone() -> None:
    network, samples = normalised(), digits(1)
    (training,) = cohort(1, least_batch=2)
    pulled = SGD(lr=1e-30, weight_decay=0.5, proximal=0.5, momentum=0.9)
    first = network.weights()
    plain = train(network, first, training, samples, SGD(lr=1e-30))
    trained = train(network, first, training, samples, pulled)
    np.testing.assert_array_equal(trained.weights[network.trained :], plain.weights[network.trained :])
    assert not np.array_equal(plain.weights[network.trained :], first[network.trained :])


def test_a_variance_below_zero_is_taken_for_zero() -> None:
    network = tiny()
    weights = np.array([1, 0, 1, -1, 0.5, -4], np.float32)
    network.load(weights)
    assert network.weights().tolist() == [1, 0, 1, -1, 0.5, 0]
    assert weights[-1] == -4


@pytest.mark.parametrize(
    ("samples", "steps", "sizes"),
    [(10, 4, [3, 3, 4]), (3, 20, [3]), (5, 20, [2, 3]), (4, 20, [2, 2]), (9, 4, [3, 3, 3])],
)
def test_no_batch_has_a_single_sample(samples: int, steps: int, sizes: list[int]) -> None:
    training = plan_training(0, 0, 0, np.arange(samples), steps, least_batch=2)
    assert [len(batch) for batch in training.batches()] == sizes
    assert sorted(np.concatenate(training.batches())) == list(range(samples))


def test_only_batch_normalisation_needs_two_samples() -> None:
    track = nn.InstanceNorm2d(1, track_running_stats=True)
    assert Network(nn.Sequential(track, nn.Flatten(), nn.Linear(64, 10)), (1, 8, 8), 10).least_batch == 1
    assert (normalised().least_batch, small().least_batch) == (2, 1)


def test_batches_are_filled_up_only_where_no_sample_sees_another() -> None:
    alone = nn.Sequential(nn.BatchNorm2d(1, track_running_stats=False), nn.Flatten(), nn.Linear(64, 10))
    assert Network(alone, (1, 8, 8), 10).whole_batches
    assert [network.whole_batches for network in (normalised(), dropping(), small())] == [True, True, False]
    groups = named(ResNet18GN(width=0.0625))
    assert not groups.whole_batches


def test_a_client_with_one_sample_is_named() -> None:
    check_batches(2, [2, 5])
    with pytest.raises(ConfigError, match=r"Client 1 has 1 of the at least 2 samples .* group normalisation"):
        check_batches(2, [2, 1])


def test_keeping_what_is_not_there() -> None:
    check_kept(True, 2)
    check_kept(False, 0)
    with pytest.raises(ConfigError, match=r"model.keep_local = true .* the network has none"):
        check_kept(True, 0)


@pytest.mark.parametrize("strategy", ["spread", "stacked"])
def test_a_training_begins_with_the_clients_own_statistics(strategy: Strategy) -> None:
    network, samples = normalised(), digits(3)
    weights = network.weights()
    own = np.random.default_rng(0).random(network.size - network.trained, dtype=np.float32)
    trainings = cohort(3, least_batch=2)
    trainings[1] = replace(trainings[1], statistics=own)
    begun = [weights, with_statistics(weights, own), weights]
    plain = [
        train(network.replica(), first, replace(training, statistics=None), samples, SGD())
        for first, training in zip(begun, trainings, strict=True)
    ]
    with Workers(network, 2) as workers:
        results = train_cohort(workers, strategy, weights, trainings, samples, SGD())
    for result, expected in zip(results, plain, strict=True):
        np.testing.assert_allclose(result.weights, expected.weights, atol=1e-5)


def test_a_second_training_in_an_epoch_begins_where_the_first_left_its_statistics() -> None:
    network = tiny()
    order = np.arange(2)
    plans = [Training(client, slot, order, 2) for client, slot in ((0, 1), (1, 1), (0, 3), (1, 4), (0, 6))]

    def add_one(ready: list[Training]) -> list[Trained]:
        results = []
        for plan in ready:
            first = np.array([0, 0], np.float32) if plan.statistics is None else plan.statistics
            weights = np.concatenate([np.zeros(network.trained, np.float32), first + 1])
            diverged = 0 if (plan.client, plan.slot) == (1, 1) else None
            results.append(Trained(plan.client, plan.slot, weights, first, 0.0, diverged))
        return results

    kept = KeptStatistics(network, keeps=True)
    held = Trained(0, 0, np.full(network.size, 7, np.float32), order, 0.0, None)
    results = kept.train(add_one, plans, {0: held})
    assert [(trained.client, trained.slot) for trained in results] == [(plan.client, plan.slot) for plan in plans]
    # Client 0 goes on from the training that it still held; client 1, whose first diverged, begins anew.
    assert [trained.weights[-1] for trained in results] == [8, 1, 9, 1, 10]
    assert kept.by_client == {}  # until they finish
    kept.keep(results[0])
    kept.keep(results[1])
    assert {client: own.tolist() for client, own in kept.by_client.items()} == {0: [8, 8]}


def test_probes_use_each_clients_own_statistics() -> None:
    network, samples = normalised(), digits(3)
    weights = network.weights()
    own = np.random.default_rng(0).random(network.size - network.trained, dtype=np.float32)
    batches = [shard(client)[:4] for client in range(3)]
    with Workers(network, 2) as workers:
        probed = probe(workers, weights, samples, batches, {1: own}, losses=True)
        plain = mean_features(workers, weights, samples, batches)
        own_way = mean_features(workers, with_statistics(weights, own), samples, batches)
    np.testing.assert_allclose(probed.features, [plain[0], own_way[1], plain[2]], atol=1e-6)
    assert np.abs(plain[1] - own_way[1]).max() > 0.001
    assert probed.losses is not None
    assert probed.losses.shape == (3,)


def test_an_untouched_module_keeps_no_count_of_batches() -> None:
    network = normalised()
    assert not [name for name, _ in network.module.named_buffers() if name.endswith("num_batches_tracked")]
    assert not network.replica().module.training
    assert torch.equal(network.module[1].running_mean, torch.zeros(4))
