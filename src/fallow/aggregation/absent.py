"""All: the mean over every client, where a client without an update counts with w(t) (reading 1, option)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fallow.aggregation.base import By, Weighed, moved
from fallow.models.weights import Weights


@dataclass(frozen=True)
class TotalData:
    """The memory of the rule.

    Attributes:
        samples: Σ|D_i| over all clients.
    """

    samples: int


@dataclass(frozen=True)
class All:
    """w + Σβ_i(w_i − w) with β_i = |D_i| / Σ|D_j| over all clients, as printed. None received: w stays.

    Attributes:
        by: "changes" puts Δ_i in the place of w_i − w.
    """

    by: By = "weights"

    def init(self, size: int, data_sizes: NDArray[np.int64]) -> TotalData:
        """Returns the memory: how many samples all clients have together."""
        return TotalData(int(data_sizes.sum()))

    def combine(self, state: TotalData, weights: Weights, updates: Sequence[Weighed]) -> tuple[TotalData, Weights]:
        """Returns the memory and w(t+1): the mean over all clients, those without an update at w(t).

        Args:
            state: The memory of the rule.
            weights: w(t), shape (P,), float32.
            updates: The updates received, sorted by client and slot.
        """
        shares = [weighed.update.data_size / state.samples for weighed in updates]
        return state, moved(weights, updates, shares, self.by)
