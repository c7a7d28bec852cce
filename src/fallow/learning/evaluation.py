"""How good a model is: F1, accuracy, loss and each class's recall on the test set."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy

from fallow.learning.network import Network
from fallow.learning.samples import Samples
from fallow.learning.state import Scores
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
        network.load(weights)
        inputs, labels = samples.batch(np.arange(first, min(first + at_once, len(samples))))
        with torch.inference_mode():
            logits = network.forward(inputs)[0]
            loss = cross_entropy(logits, labels, reduction="none").sum(dtype=torch.float64).item()
        return confusion_matrix(labels.cpu().numpy(), logits.argmax(1).cpu().numpy(), network.classes), loss

    parts = workers.map(part, range(0, len(samples), at_once))
    confusion = np.sum([counts for counts, _ in parts], axis=0)
    return Scores(
        macro_f1(confusion),
        float(np.trace(confusion) / confusion.sum()),
        sum(loss for _, loss in parts) / len(samples),
        recall(confusion),
    )


def confusion_matrix(labels: NDArray[np.int64], predictions: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """Returns how many samples have each true class (row) and predicted class (column), shape (K, K), int64.

    Args:
        labels: The true classes, shape (samples,), int64.
        predictions: The predicted classes, shape (samples,), int64.
        classes: K.

    Examples:
        >>> confusion_matrix(np.array([0, 0, 1]), np.array([0, 1, 1]), classes=2)
        array([[1, 1],
               [0, 1]])
    """
    return np.bincount(labels * classes + predictions, minlength=classes * classes).reshape(classes, classes)


def macro_f1(confusion: NDArray[np.int64]) -> float:
    """Returns the mean over the classes of 2·TP / (2·TP + FP + FN).

    A class that is neither among the true classes nor among the predictions counts as 0.

    Args:
        confusion: As `confusion_matrix` returns it, shape (K, K), int64.

    Examples:
        >>> macro_f1(np.array([[1, 0], [0, 3]]))
        1.0
    """
    hits = np.diag(confusion)
    either = confusion.sum(axis=0) + confusion.sum(axis=1)  # 2·TP + FP + FN
    return float(np.mean(np.divide(2 * hits, either, out=np.zeros(len(hits)), where=either > 0)))


def recall(confusion: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns TP / (TP + FN) of each class, shape (K,), float64; NaN for a class without samples.

    Args:
        confusion: As `confusion_matrix` returns it, shape (K, K), int64.

    Examples:
        >>> recall(np.array([[1, 1], [0, 3]]))
        array([0.5, 1. ])
    """
    present = confusion.sum(axis=1)
    share = np.full(len(present), np.nan)
    np.divide(np.diag(confusion), present, out=share, where=present > 0)
    return share
