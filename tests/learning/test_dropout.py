"""Dropout: masks from the stream of (seed, start slot, client), in training alone."""

import numpy as np
import pytest
import torch
from torch import nn

from fallow.errors import ConfigError
from fallow.learning.dropout import DropoutCall, SeededDropout
from fallow.learning.evaluation import evaluate
from fallow.learning.local import train
from fallow.learning.network import Network
from fallow.learning.options import SGD
from fallow.learning.probe import mean_features
from fallow.learning.samples import samples_from_arrays
from fallow.learning.training import Training, plan_training
from fallow.learning.workers import Workers
from fallow.rng import Purpose, stream
from tests.learning.worlds import SEED, DropsTwice, cohort, digits, dropping, shard


def test_a_step_worked_by_hand() -> None:
    network = Network(nn.Sequential(nn.Dropout(0.75), nn.Linear(1, 2, bias=False)), (1,), 2, "logits")
    samples = samples_from_arrays(np.ones((4, 1), dtype=np.float32), np.zeros(4, dtype=np.int64), (0.0,), (1.0,))
    training = Training(client=0, slot=0, order=np.arange(4), batch_size=4, seed=1)
    kept = network.dropout.draw(training.dropout_stream(), 4)[0].numpy().ravel()
    assert sorted(set(kept)) == [0.0, 4.0]  # 1 / (1 − 0.75)
    trained = train(network, np.array([0.0, 0.0], np.float32), training, samples, SGD(lr=1.0))
    # Logits are 0, so the softmax is (½, ½); the gradient of the mean loss is ∓½ times the mean of the masked inputs.
    np.testing.assert_allclose(trained.weights, [kept.mean() / 2, -kept.mean() / 2], rtol=1e-6)


def test_masks_keep_the_right_share_and_its_expectation() -> None:
    mask = DropoutCall(0.2, False, (1, 50), (1, 0)).draw(np.random.default_rng(0), 400).numpy()
    assert mask.shape == (400, 50)
    assert set(np.unique(mask)) == {np.float32(0), np.float32(1.25)}
    assert abs(mask.mean() - 1) < 0.02  # five standard deviations of a mean of 20,000 are 0.018


def test_whole_channels_are_dropped_where_the_layer_says_so() -> None:
    mask = DropoutCall(0.5, True, (1, 6, 5, 5), (1, 0, 0, 0)).draw(np.random.default_rng(0), 3)
    assert mask.shape == (3, 6, 1, 1)


@pytest.mark.parametrize(("p", "value"), [(0.0, 1.0), (1.0, 0.0)])
def test_the_ends_of_the_scale(p: float, value: float) -> None:
    mask = DropoutCall(p, False, (1, 8), (1, 0)).draw(np.random.default_rng(0), 5)
    assert (mask == value).all()


def test_a_training_is_a_function_of_seed_slot_and_client() -> None:
    network, samples = dropping(), digits(2)
    weights = network.weights()

    def result(seed: int, slot: int, client: int) -> bytes:
        training = plan_training(0, 0, 0, shard(0), 4)
        again = Training(client, slot, training.order, training.batch_size, seed=seed)
        torch.rand(3)  # what others draw from PyTorch's generator changes nothing
        return train(network, weights, again, samples, SGD(lr=0.1)).weights.tobytes()

    results = [result(*key) for key in ((1, 2, 3), (1, 2, 3), (4, 2, 3), (1, 4, 3), (1, 2, 4))]
    assert results[0] == results[1]
    assert len(set(results)) == 4


def test_nothing_is_dropped_in_probes_and_evaluations() -> None:
    network, samples = dropping(), digits(3)
    weights = network.weights()
    batches = [shard(client) for client in range(3)]
    with Workers(network, 2) as workers:
        before = evaluate(workers, weights, samples)
        features = mean_features(workers, weights, samples, batches)
        for training in cohort(3):
            workers.map(lambda own, plan: train(own, weights, plan, samples, SGD()), [training])
        assert evaluate(workers, weights, samples).loss == before.loss
        np.testing.assert_array_equal(mean_features(workers, weights, samples, batches), features)
    plain = nn.Sequential(*[layer for layer in network.module if not isinstance(layer, SeededDropout)])
    with torch.no_grad():
        expected = plain(samples.batch(shard(1))[0]).softmax(1).mean(0)
    np.testing.assert_allclose(features[1], expected, atol=1e-6)


def test_a_layer_that_is_called_twice_has_two_masks_a_pass() -> None:
    network = Network(DropsTwice(), (1, 8, 8), 10)
    rng = stream(SEED, Purpose.DROPOUT, 7, 0)
    assert [tuple(mask.shape) for mask in network.dropout.draw(rng, 5)] == [(5, 64), (5, 16)]


class Flips(nn.Module):
    """Puts the samples into the last place, where dropout meets them."""

    def __init__(self) -> None:
        super().__init__()
        self.drop, self.out = nn.Dropout(0.5), nn.Linear(64, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.drop(x.flatten(1).T).T)


def test_the_samples_may_stand_in_any_place_of_a_shape() -> None:
    network, samples = Network(Flips(), (1, 8, 8), 10), digits(1)
    assert network.dropout.draw(np.random.default_rng(0), 5)[0].shape == (64, 5)
    assert train(network, network.weights(), cohort(1)[0], samples, SGD()).diverged_at is None


class DropsForSome(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.drop, self.out = nn.Dropout(0.5), nn.Linear(64, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.drop(x.flatten(1))
        return self.out(self.drop(x) if len(x) > 2 else x)


def test_a_network_that_drops_more_often_later_is_told_so() -> None:
    network, samples = Network(DropsForSome(), (1, 8, 8), 10), digits(1)
    with pytest.raises(ConfigError, match="more often than the 1 times"):
        train(network, network.weights(), cohort(1)[0], samples, SGD())
