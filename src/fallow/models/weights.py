"""A model as one vector of numbers: the form in which it is averaged, sent and saved."""

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float32]
"""A model's P parameters in one vector, shape (P,), float32."""


def all_finite(weights: Weights) -> bool:
    """Tells whether every number is finite, by their sum in float64, which only finite numbers leave finite."""
    with np.errstate(invalid="ignore"):  # ∞ − ∞ is an answer here, no accident
        return bool(np.isfinite(weights.sum(dtype=np.float64)))
