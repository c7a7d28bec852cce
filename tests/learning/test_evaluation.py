"""Scores worked by hand, and beside scikit-learn's."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from fallow.learning.evaluation import count_classes, evaluate, evaluate_clients, macro_f1, recall
from fallow.learning.workers import Workers
from tests.learning.worlds import digits, small


def test_f1_by_hand() -> None:
    # Class 0: TP 2, FP 1, FN 1 → 4/6. Class 1: TP 1, FP 1, FN 1 → 2/4. Class 2: never there, never guessed → 0.
    counts = count_classes(np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 0]), 3)
    assert counts.tolist() == [[2, 1, 0], [3, 2, 0], [3, 2, 0]]
    assert macro_f1(counts) == pytest.approx((4 / 6 + 2 / 4 + 0) / 3)
    np.testing.assert_allclose(recall(counts), [2 / 3, 1 / 2, np.nan])


def test_a_class_that_is_guessed_but_not_there_scores_zero() -> None:
    assert macro_f1(count_classes(np.array([0, 0]), np.array([0, 1]), 2)) == pytest.approx((2 / 3 + 0) / 2)


def test_f1_is_that_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    for classes in (2, 5, 10):
        labels, guesses = rng.integers(0, classes, (2, 300))
        ours = macro_f1(count_classes(labels, guesses, classes))
        assert ours == pytest.approx(metrics.f1_score(labels, guesses, average="macro"))


def test_a_model_is_scored_on_every_sample() -> None:
    network, samples = small(), digits(70)
    with torch.no_grad():
        logits = network.module(samples.batch(np.arange(700))[0])
    scores = []
    for count in (1, 2):
        with Workers(network, count) as workers:
            scores.append(evaluate(workers, network.weights(), samples))
    assert scores[0].accuracy == pytest.approx((logits.argmax(1) == samples.labels).double().mean().item())
    assert scores[0].loss == pytest.approx(cross_entropy(logits, samples.labels).item(), rel=1e-5)
    assert (scores[0].f1, scores[0].loss) == (scores[1].f1, scores[1].loss)


def test_clients_are_scored_on_their_own_samples_however_many_they_have() -> None:
    network, samples = small(), digits(150)
    shards = [np.arange(3), np.zeros(0, dtype=np.int64), np.arange(700, 1500)[::-1].copy(), np.array([5, 700])]
    found = []
    for count in (1, 2):
        with Workers(network, count) as workers:
            found.append(evaluate_clients(workers, network.weights(), samples, shards))
    for client, own in enumerate(shards):
        images, labels = samples.batch(own)
        with torch.no_grad():
            logits = network.module(images)
        if len(own):
            assert found[0].accuracy[client] == (logits.argmax(1) == labels).double().mean().item()
            assert found[0].loss[client] == pytest.approx(cross_entropy(logits, labels).item(), rel=1e-5)
        else:
            assert np.isnan([found[0].accuracy[client], found[0].loss[client]]).all()
    assert found[0].loss.tobytes() == found[1].loss.tobytes()
    assert found[0].accuracy.tobytes() == found[1].accuracy.tobytes()


def test_where_no_client_has_samples_there_are_no_scores() -> None:
    network = small()
    with Workers(network, 1) as workers:
        found = evaluate_clients(workers, network.weights(), digits(1), [np.zeros(0, dtype=np.int64)] * 2)
    assert np.isnan(found.loss).tolist() == np.isnan(found.accuracy).tolist() == [True, True]
