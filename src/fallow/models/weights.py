"""A model as one vector of numbers, as it is averaged, sent and saved."""

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float32]
"""A model's P parameters in one vector, shape (P,), float32."""


def running_mean(mean: Weights, newest: Weights, kept: float) -> Weights:
    """Returns kept · mean + (1 − kept) · newest, shape (P,), float32; computed in float64.

    Args:
        mean: The running mean so far, shape (P,), float32.
        newest: The newest model, shape (P,), float32.
        kept: The share of the mean that stays.

    Examples:
        >>> running_mean(np.array([0, 4], dtype=np.float32), np.array([2, 0], dtype=np.float32), 0.5)
        array([1., 2.], dtype=float32)
    """
    mixed: Weights = (kept * mean.astype(np.float64) + (1 - kept) * newest).astype(np.float32)
    return mixed


def all_finite(weights: Weights) -> bool:
    """Returns whether every number is finite. Checks their sum in float64, which is finite only then.

    Args:
        weights: Shape (P,), float32.

    Examples:
        >>> all_finite(np.array([1, np.inf], dtype=np.float32))
        False
    """
    with np.errstate(invalid="ignore"):  # ∞ − ∞ gives NaN here on purpose
        return bool(np.isfinite(weights.sum(dtype=np.float64)))
