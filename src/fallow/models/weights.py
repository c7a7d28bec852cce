"""A model as one vector of numbers, as it is averaged, sent and saved."""

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float32]
"""A model's P parameters in one vector, shape (P,), float32."""


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
