"""One client's training against PyTorch's own optimiser and against sums worked out in the open."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy, softmax

from fallow.learning.local import train
from fallow.learning.network import Network
from fallow.learning.options import SGD
from fallow.learning.samples import samples_from_arrays
from fallow.learning.training import Training, plan_training
from tests.learning.worlds import SEED, cohort, digits, shard, small


def one_feature(bias: bool = False) -> Network:
    """Two classes, one input, logits (a·x, b·x)."""
    return Network(torch.nn.Linear(1, 2, bias=bias), (1,), 2, "softmax")


def test_a_step_worked_by_hand() -> None:
    # Logits (0, 0) give softmax (1/2, 1/2); the loss of class 0 is ln 2 and its gradient (−1/2, 1/2)·x = (−1, 1).
    samples = samples_from_arrays(np.array([[2.0]], np.float32), np.array([0]), (0.0,), (1.0,))
    result = train(one_feature(), np.zeros(2, np.float32), Training(0, 0, np.array([0]), 1), samples, SGD(lr=0.1))
    np.testing.assert_allclose(result.weights, [0.1, -0.1], rtol=1e-6)
    np.testing.assert_allclose(result.moment, [0.5, 0.5])
    assert result.loss == pytest.approx(np.log(2))
    assert result.diverged_at is None
    assert result.fault() is None


def test_the_moment_is_the_mean_of_the_features_seen_while_training() -> None:
    network, samples = small(), digits(1)
    training = cohort(1, steps=4)[0]
    result = train(network, network.weights(), training, samples, SGD(lr=0.1))
    module, seen, losses = small().module, [], []
    for batch in (training.order[:3], training.order[3:6], training.order[6:9], training.order[9:]):
        x = (samples.images[batch].float() / 255 - 0.5) / 0.25
        logits = module(x)
        seen += list(softmax(logits, 1).detach().double().numpy())
        loss = cross_entropy(logits, samples.labels[batch])
        losses += [loss.item()] * len(batch)
        loss.backward()
        with torch.no_grad():
            for parameter in module.parameters():
                parameter -= 0.1 * parameter.grad
                parameter.grad = None
    np.testing.assert_allclose(result.moment, np.mean(seen, axis=0), atol=1e-6)
    assert result.loss == pytest.approx(np.mean(losses), rel=1e-5)


@pytest.mark.parametrize(
    "options", [{}, {"momentum": 0.9}, {"weight_decay": 0.1}, {"momentum": 0.5, "weight_decay": 0.1}]
)
def test_steps_are_those_of_torch(options: dict[str, float]) -> None:
    network, samples = small(), digits(1)
    training = cohort(1)[0]
    result = train(network, network.weights(), training, samples, SGD(lr=0.05, **options))
    plain = small()
    optimiser = torch.optim.SGD(plain.module.parameters(), lr=0.05, **options)
    for batch in training.batches():
        inputs, labels = samples.batch(batch)
        optimiser.zero_grad()
        cross_entropy(plain.module(inputs), labels).backward()
        optimiser.step()
    np.testing.assert_allclose(result.weights, plain.weights(), atol=1e-6)


def test_the_proximal_term_pulls_towards_the_start() -> None:
    # After the first step, worked above, w = (0.1, −0.1). Logits (0.2, −0.2): softmax₀ = 1/(1+e^−0.4) = 0.598688.
    # The loss's gradient is (−0.802625, 0.802625); the pull 2·(w − 0) = (0.2, −0.2); together ∓0.602625.
    samples = samples_from_arrays(np.array([[2.0], [2.0]], np.float32), np.array([0, 0]), (0.0,), (1.0,))
    training = Training(0, 0, np.array([0, 1]), 1)
    result = train(one_feature(), np.zeros(2, np.float32), training, samples, SGD(lr=0.1, proximal=2.0))
    np.testing.assert_allclose(result.weights, [0.1602625, -0.1602625], rtol=1e-6)


def test_divergence_is_found_at_its_step() -> None:
    # Step 1 has a loss of 2·10³⁰ and leaves weights of that size; in step 2 their product with the input overflows.
    images = np.array([[1.0], [1e30], [1e30]], np.float32)
    samples = samples_from_arrays(images, np.array([0, 1, 0]), (0.0,), (1.0,))
    weights = np.array([1.0, -1.0], np.float32)
    result = train(one_feature(), weights, Training(7, 9, np.array([0, 1, 2]), 1), samples, SGD(lr=1.0))
    assert result.diverged_at == 2
    assert "client 7 that started in slot 9 diverged at step 2" in str(result.fault())


def test_weights_that_overflow_in_the_last_step_are_found() -> None:
    samples = samples_from_arrays(np.array([[1e30]], np.float32), np.array([0]), (0.0,), (1.0,))
    result = train(one_feature(), np.zeros(2, np.float32), Training(0, 0, np.array([0]), 1), samples, SGD(lr=1e10))
    assert result.diverged_at == 0


def test_batches_make_one_pass_of_at_most_kappa_steps() -> None:
    sizes = {n: [len(b) for b in plan_training(SEED, 0, 0, np.arange(n), 4).batches()] for n in (3, 8, 9, 11)}
    assert sizes == {3: [1, 1, 1], 8: [2, 2, 2, 2], 9: [3, 3, 3], 11: [3, 3, 3, 2]}
    training = plan_training(SEED, 2, 5, shard(2), 4)
    assert sorted(training.order) == list(shard(2))


def test_the_order_is_a_function_of_seed_slot_and_client() -> None:
    orders = {
        tuple(plan_training(seed, client, slot, np.arange(10), 4).order)
        for seed in (1, 2) for client in (0, 1) for slot in (0, 1) for _ in range(2)
    }  # fmt: skip
    assert len(orders) == 8
