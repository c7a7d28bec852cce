"""How far a model is from what a client had: in features (Eq. 5) or in parameters (Eq. 2). Needs no PyTorch."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fallow.models.weights import Weights

Moments = NDArray[np.float32]
"""h_i of every client, shape (N, F), float32; NaN where a client has none yet."""


def distances(features: Moments, moments: Moments) -> NDArray[np.float32]:
    """Returns M_i of Eq. (5), the distance between v_i and h_i; infinite for a client without h_i (reading 6).

    Args:
        features: v_i, shape (N, F), float32.
        moments: h_i, shape (N, F), float32, NaN where there is none.

    Returns:
        Shape (N,), float32.

    Examples:
        >>> v = np.array([[3.0, 4.0], [1.0, 1.0]], dtype=np.float32)
        >>> distances(v, np.array([[0.0, 0.0], [np.nan, np.nan]], dtype=np.float32))
        array([ 5., inf], dtype=float32)
    """
    distance = np.linalg.norm(features.astype(np.float64) - moments, axis=1)
    return np.where(np.isnan(distance), np.inf, distance).astype(np.float32)


def parameter_distances(weights: Weights, local: Sequence[Weights | None]) -> NDArray[np.float32]:
    """Returns ‖w(t) − w_i‖₂ of each client's last local weights; infinite where a client has none.

    Args:
        weights: w(t), shape (P,), float32.
        local: w_i of each client, shape (P,), float32; None for a client that has none.

    Returns:
        Shape (N,), float32.
    """
    return np.array(
        [np.inf if last is None else np.linalg.norm(weights.astype(np.float64) - last) for last in local],
        dtype=np.float32,
    )
