"""Received: the mean of the updates received, weighted by data size (reading 1)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fallow.aggregation.base import By, Weighed, data_shares, moved
from fallow.models.weights import Weights


@dataclass(frozen=True)
class Received:
    """w + Σβ_i(w_i − w) with Σβ_i = 1 over the updates received: their weighted mean. None received: w stays.

    Attributes:
        by: "changes" puts Δ_i in the place of w_i − w.
    """

    by: By = "weights"

    def init(self, size: int, data_sizes: NDArray[np.int64]) -> None:
        """Returns None: the rule has no memory."""

    def combine(self, state: None, weights: Weights, updates: Sequence[Weighed]) -> tuple[None, Weights]:
        """Returns None and the mean of the updates, weighted by data size.

        Args:
            state: The memory of the rule.
            weights: w(t), shape (P,), float32.
            updates: The updates received, sorted by client and slot.
        """
        return state, moved(weights, updates, data_shares(updates), self.by)
