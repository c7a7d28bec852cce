"""Buffered: the model changes when enough updates have arrived, however many epochs that takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.aggregation.base import By, Weighed
from fallow.models.weights import Weights


@dataclass(frozen=True, eq=False)
class Buffer:
    """The updates that wait, as sums, so that memory does not grow with their number.

    Attributes:
        count: How many updates wait.
        samples: Σ|D_i|, the samples of their clients.
        pull: Σ|D_i|·factor_i, their total weight.
        weights: Σ|D_i|·factor_i·w_i, or with Δ_i for w_i by changes, shape (P,), float64.
    """

    count: int
    samples: int
    pull: float
    weights: NDArray[np.float64]


@dataclass(frozen=True)
class Buffered:
    """Once m updates wait: w + Σβ_i(w_i − w) over all of them, Σβ_i = 1, and the buffer is empty again.

    Staleness is measured when an update arrives; the time in the buffer does not count.

    Attributes:
        m: The number of updates to wait for.
        by: "changes" puts Δ_i in the place of w_i − w.
    """

    m: Annotated[int, Field(ge=1, description="updates to wait for")] = 10
    by: By = "weights"

    def init(self, size: int, data_sizes: NDArray[np.int64]) -> Buffer:
        """Returns an empty buffer."""
        return Buffer(0, 0, 0.0, np.zeros(size))

    def combine(self, state: Buffer, weights: Weights, updates: Sequence[Weighed]) -> tuple[Buffer, Weights]:
        """Returns the buffer with the updates added, and w(t); if there are enough, an empty buffer and w(t+1).

        Args:
            state: The memory of the rule.
            weights: w(t), shape (P,), float32.
            updates: The updates received, sorted by client and slot.
        """
        total = state.weights.copy()
        count, samples, pull = state.count, state.samples, state.pull
        for weighed in updates:
            weight = weighed.update.data_size * weighed.factor
            brought = weighed.update.weights if self.by == "weights" else weighed.update.change
            total += weight * brought.astype(np.float64)
            count, samples, pull = count + 1, samples + weighed.update.data_size, pull + weight
        if count < self.m:
            return Buffer(count, samples, pull, total), weights
        base = weights.astype(np.float64)
        moved = base + (total - pull * base if self.by == "weights" else total) / samples
        return Buffer(0, 0, 0.0, np.zeros_like(total)), moved.astype(np.float32)
