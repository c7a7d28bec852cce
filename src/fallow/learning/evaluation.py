"""How good a model is: on the test set, and on the samples of each client."""

from collections.abc import Iterable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from fallow.learning.network import Network
from fallow.learning.samples import Samples
from fallow.learning.state import ClientScores, Scores
from fallow.learning.workers import Workers
from fallow.models.weights import Weights


def evaluate(workers: Workers, weights: Weights, samples: Samples) -> Scores:
    """Returns the scores of a model on a set of samples.

    Args:
        workers: The threads that compute.
        weights: The model, shape (P,), float32.
        samples: The test set; all of it is used.
    """
    at_once = workers.network.samples_at_once

    def part(network: Network, first: int) -> tuple[NDArray[np.int64], float]:
        chosen = np.arange(first, min(first + at_once, len(samples)))
        labels, guesses, losses = _classify(network, weights, samples, chosen)
        loss = losses.sum(dtype=torch.float64).item()
        return count_classes(labels.cpu().numpy(), guesses.cpu().numpy(), network.classes), loss

    parts = workers.map(part, range(0, len(samples), at_once))
    counts = np.sum([counted for counted, _ in parts], axis=0)
    hits, present, _ = counts
    return Scores(
        macro_f1(counts),
        float(hits.sum() / present.sum()),
        sum(loss for _, loss in parts) / len(samples),
        recall(counts),
    )


def evaluate_clients(
    workers: Workers, weights: Weights, samples: Samples, shards: Iterable[NDArray[np.int64]]
) -> ClientScores:
    """Returns the scores of a model on each client's own samples: one forward pass over all of them.

    Args:
        workers: The threads that compute.
        weights: The model, shape (P,), float32.
        samples: The training set.
        shards: Each client's samples, indices into the training set, shape (|D_i|,), int64; a client may have none.
    """
    at_once = workers.network.samples_at_once
    owned = list(shards)
    everyone = np.concatenate([np.zeros(0, dtype=np.int64), *owned])

    def part(network: Network, first: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        labels, guesses, losses = _classify(network, weights, samples, everyone[first : first + at_once])
        return losses.cpu().numpy(), (guesses == labels).cpu().numpy()

    parts = workers.map(part, range(0, len(everyone), at_once))
    sizes = np.array([len(own) for own in owned])
    owners = np.repeat(np.arange(len(sizes)), sizes)
    sums = [np.bincount(owners, np.concatenate([[], *numbers]), len(sizes)) for numbers in zip(*parts, strict=True)]
    loss, hits = sums or (np.zeros(len(sizes)), np.zeros(len(sizes)))
    counts = np.where(sizes > 0, sizes, np.nan)
    return ClientScores(loss / counts, hits / counts)


def _classify(
    network: Network, weights: Weights, samples: Samples, chosen: NDArray[np.int64]
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the true and the predicted classes of some samples, int64, and their losses, float32; shape (n,) each."""
    network.load(weights)
    inputs, labels = samples.batch(chosen)
    with torch.inference_mode():
        logits = network.forward(inputs)[0]
        return labels, logits.argmax(1), cross_entropy(logits, labels, reduction="none")


def count_classes(labels: NDArray[np.int64], predictions: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """Returns for each class its hits (TP), the samples of it (TP + FN) and the guesses of it (TP + FP).

    A matrix of all pairs of classes would be too large for many classes, and no score needs it.

    Args:
        labels: The true classes, shape (samples,), int64.
        predictions: The predicted classes, shape (samples,), int64.
        classes: K.

    Returns:
        Shape (3, K), int64.

    Examples:
        >>> count_classes(np.array([0, 0, 1]), np.array([0, 1, 1]), classes=2)
        array([[1, 1],
               [2, 1],
               [1, 2]])
    """
    counted = (labels[labels == predictions], labels, predictions)
    return np.stack([np.bincount(which, minlength=classes) for which in counted])


def macro_f1(counts: NDArray[np.int64]) -> float:
    """Returns the mean over the classes of 2·TP / (2·TP + FP + FN).

    A class that is neither among the true classes nor among the predictions counts as 0.

    Args:
        counts: As `count_classes` returns them, shape (3, K), int64.

    Examples:
        >>> macro_f1(np.array([[1, 3], [1, 3], [1, 3]]))
        1.0
    """
    hits, present, predicted = counts
    either = present + predicted  # 2·TP + FP + FN
    return float(np.mean(np.divide(2 * hits, either, out=np.zeros(len(hits)), where=either > 0)))


def recall(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns TP / (TP + FN) of each class, shape (K,), float64; NaN for a class without samples.

    Args:
        counts: As `count_classes` returns them, shape (3, K), int64.

    Examples:
        >>> recall(np.array([[1, 3], [2, 3], [1, 4]]))
        array([0.5, 1. ])
    """
    hits, present, _ = counts
    share = np.full(len(present), np.nan)
    np.divide(hits, present, out=share, where=present > 0)
    return share
