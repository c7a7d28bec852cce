"""Local objectives, by hand-worked numbers."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from fallow.errors import ConfigError
from fallow.learning.local import train
from fallow.learning.options import SGD
from fallow.learning.samples import samples_from_arrays
from fallow.learning.stacked import train_stacked
from fallow.learning.training import Training
from fallow.objectives import BalancedSoftmax, CrossEntropy, FedLC, logit_offsets
from tests.learning.worlds import small


def test_balanced_softmax_adds_the_logarithm_of_the_shares() -> None:
    offset = BalancedSoftmax().offset(np.array([1, 3, 0]))
    assert offset is not None
    assert offset[:2].tolist() == pytest.approx([np.log(0.25), np.log(0.75)])
    assert offset[2] == -np.inf


def test_smoothing_gives_an_absent_class_a_share() -> None:
    offset = BalancedSoftmax(smoothing=1).offset(np.array([1, 3, 0]))
    assert offset is not None
    assert np.exp(offset).tolist() == pytest.approx([2 / 7, 4 / 7, 1 / 7])


def test_fedlc_takes_more_off_a_rare_class() -> None:
    offset = FedLC(tau=2.0).offset(np.array([16, 81, 0]))
    assert offset is not None
    assert offset.tolist() == pytest.approx([-1.0, -2 / 3, -np.inf])


def test_cross_entropy_adds_nothing() -> None:
    assert logit_offsets(CrossEntropy(), np.array([0, 1]), [np.array([0]), np.array([1])], 2) == [None, None]


@dataclass(frozen=True)
class OnlyForFew:
    def offset(self, counts: np.ndarray) -> np.ndarray | None:
        return None if counts[0] else np.array([-1.0, 0.0], dtype=np.float32)


def test_clients_whom_an_objective_leaves_alone_are_shifted_by_nothing() -> None:
    offsets = logit_offsets(OnlyForFew(), np.array([0, 1]), [np.array([0]), np.array([1])], 2)
    assert [offset.tolist() for offset in offsets] == [[0.0, 0.0], [-1.0, 0.0]]


@dataclass(frozen=True)
class Nonsense:
    value: float

    def offset(self, counts: np.ndarray) -> np.ndarray:
        return np.full(counts.shape, self.value, dtype=np.float32)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_an_objective_that_a_loss_can_not_use_is_refused_by_name(value: float) -> None:
    with pytest.raises(ConfigError, match=r"Nonsense.* gave client 0 the numbers"):
        logit_offsets(Nonsense(value), np.array([0, 1]), [np.array([0, 1])], 2)


def test_one_step_moves_only_the_classes_that_the_client_has() -> None:
    # One weight a class and no bias: z = (a, b, c)·x at x = 1, all zero. Two samples of class 0, none of 1 and 2, so
    # the loss is −log 1 = 0 and nothing moves; with cross-entropy the gradient is softmax − onehot = (−2/3, 1/3, 1/3).
    from fallow.learning.network import Network

    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(1, 3, bias=False))
    network = Network(module, (1, 1, 1), 3)
    zero = np.zeros(3, dtype=np.float32)
    samples = samples_from_arrays(np.ones((2, 1, 1, 1), np.float32), np.array([0, 0]), (0.0,), (1.0,))
    order = np.array([0, 1])
    offset = BalancedSoftmax().offset(np.array([2, 0, 0]))
    balanced = train(network, zero, Training(0, 0, order, 2, offset), samples, SGD(lr=0.3))
    plain = train(network, zero, Training(0, 0, order, 2), samples, SGD(lr=0.3))
    assert balanced.weights.tolist() == [0.0, 0.0, 0.0]
    assert balanced.loss == 0.0
    assert plain.weights.tolist() == pytest.approx([0.2, -0.1, -0.1])
    assert plain.rms_loss == pytest.approx(np.log(3))
    assert balanced.moment.tolist() == pytest.approx([1 / 3] * 3)  # of the logits as they are


def test_stacked_and_single_trainings_agree() -> None:
    network = small()
    rng = np.random.default_rng(0)
    y = rng.integers(0, network.classes, 24)
    x = rng.normal(size=(24, *network.input_shape)).astype(np.float32)
    samples = samples_from_arrays(x, y, (0.0,) * x.shape[1], (1.0,) * x.shape[1])
    shards = [np.arange(12), np.arange(12, 24)]
    offsets = logit_offsets(BalancedSoftmax(), y, shards, network.classes)
    trainings = [Training(i, 0, shards[i], 4, offsets[i]) for i in range(2)]
    alone = [train(network.replica(), network.weights(), one, samples, SGD(lr=0.1)) for one in trainings]
    together = train_stacked(network.replica(), network.weights(), trainings, samples, SGD(lr=0.1))
    for first, second in zip(alone, together, strict=True):
        np.testing.assert_allclose(first.weights, second.weights, atol=1e-5)
        np.testing.assert_allclose(first.moment, second.moment, atol=1e-5)
        assert first.rms_loss == pytest.approx(second.rms_loss, rel=1e-4)
        assert first.loss == pytest.approx(second.loss, rel=1e-4)
