"""How evenly something is spread over the clients."""

import numpy as np
from numpy.typing import NDArray

TENTH = 10
"""One client in so many is among the worst tenth."""


def jain_index(shares: NDArray[np.float64]) -> float | None:
    """Returns Jain's fairness index, (Σx)² / (N Σx²): 1 for equal shares, 1/N for one taker, None for nothing to share.

    Args:
        shares: What each client has, shape (N,), float64.

    Examples:
        >>> jain_index(np.array([1.0, 1.0, 0.0, 0.0]))
        0.5
    """
    squares = float((shares**2).sum())
    return float(shares.sum()) ** 2 / (shares.size * squares) if squares else None


def worst_tenth(scores: NDArray[np.float64]) -> float:
    """Returns the mean of the lowest tenth of some scores; it is rounded down, but at least one.

    Args:
        scores: Of the clients, shape (N,), float64, at least one.

    Examples:
        >>> worst_tenth(np.array([0.9, 0.2, 0.6]))
        0.2
    """
    return float(np.sort(scores)[: max(1, scores.size // TENTH)].mean())


def summarise_accuracy(accuracy: NDArray[np.float64]) -> dict[str, float | None]:
    """Returns what summary.json says of the clients' accuracies; clients without samples (NaN) are left out.

    Args:
        accuracy: Of each client, shape (N,), float64; at least one is not NaN.

    Examples:
        >>> summarise_accuracy(np.array([1.0, 0.0, np.nan]))["client_accuracy_sd"]
        0.5
    """
    known = accuracy[~np.isnan(accuracy)]
    return {
        "client_accuracy_mean": float(known.mean()),
        "client_accuracy_sd": float(known.std()),  # of all clients, not of a sample of them
        "client_accuracy_worst_tenth": worst_tenth(known),
        "jain_index_accuracy": jain_index(known),
    }
