"""Received: the mean of the updates received, weighted by data size (reading 1)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fallow.aggregation.base import Weighed, data_shares, moved
from fallow.models.weights import Weights


@dataclass(frozen=True)
class Received:
    """w + Σβ_i(w_i − w) with Σβ_i = 1 over the updates received: their weighted mean. None received: w stays."""

    def init(self, size: int, data_sizes: NDArray[np.int64]) -> None:
        """Remembers nothing."""

    def combine(self, state: None, weights: Weights, updates: Sequence[Weighed]) -> tuple[None, Weights]:
        """Returns the weighted mean."""
        return state, moved(weights, updates, data_shares(updates))
