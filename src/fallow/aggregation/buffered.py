"""Buffered: the model moves when enough updates have come, over as many epochs as that takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.aggregation.base import Weighed
from fallow.models.weights import Weights


@dataclass(frozen=True, eq=False)
class Buffer:
    """The updates that wait, summed: so memory does not grow with their number.

    Attributes:
        count: How many.
        samples: Σ|D_i|.
        pull: Σ|D_i|·discount_i, how strongly they pull.
        weights: Σ|D_i|·discount_i·w_i, shape (P,), float64.
    """

    count: int
    samples: int
    pull: float
    weights: NDArray[np.float64]


@dataclass(frozen=True)
class Buffered:
    """Once m updates wait: w + Σβ_i(w_i − w) over all of them, Σβ_i = 1, and the buffer is empty again.

    Staleness is counted when an update arrives; the wait in the buffer adds nothing to it.
    """

    m: Annotated[int, Field(ge=1, description="updates to wait for")] = 10

    def init(self, size: int, data_sizes: NDArray[np.int64]) -> Buffer:
        """Nothing waits at first."""
        return Buffer(0, 0, 0.0, np.zeros(size))

    def combine(self, state: Buffer, weights: Weights, updates: Sequence[Weighed]) -> tuple[Buffer, Weights]:
        """Adds the updates to the buffer, and empties it into the model if there are enough."""
        total = state.weights.copy()
        count, samples, pull = state.count, state.samples, state.pull
        for one in updates:
            own = one.update.data_size * one.discount
            total += own * one.update.weights.astype(np.float64)
            count, samples, pull = count + 1, samples + one.update.data_size, pull + own
        if count < self.m:
            return Buffer(count, samples, pull, total), weights
        base = weights.astype(np.float64)
        moved = base + (total - pull * base) / samples
        return Buffer(0, 0, 0.0, np.zeros_like(total)), moved.astype(np.float32)
