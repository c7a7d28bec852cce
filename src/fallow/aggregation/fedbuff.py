"""FedBuff: the mean of K changes is added when K have come (Nguyen et al. 2022, arXiv 2106.06639, Algorithm 1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.aggregation.base import Weighed
from fallow.models.weights import Weights


@dataclass(frozen=True, eq=False)
class WaitingChanges:
    """The changes that wait, as a sum, so that memory does not grow with their number.

    Attributes:
        count: How many wait.
        total: Σ s(staleness)·Δ_i, shape (P,), float64.
    """

    count: int
    total: NDArray[np.float64]


@dataclass(frozen=True)
class FedBuff:
    """Each time that K changes wait: w + η · (1/K) · Σ s(staleness)·Δ_i, and the buffer is empty again.

    Changes wait across epochs. An epoch with more than K updates moves the model more than once; without updates it
    stays. How much data a client has does not count, as in the source. Unlike `buffered`, which waits for at least m
    updates and then takes all that came in the epoch, by data size.

    Attributes:
        k: K, how many changes are waited for.
        eta: η, the server's step.
    """

    k: Annotated[int, Field(ge=1, description="K, how many changes are waited for")] = 10
    eta: Annotated[float, Field(gt=0, description="η, the server's step")] = 1.0

    def init(self, size: int, data_sizes: NDArray[np.int64]) -> WaitingChanges:
        """Returns an empty buffer."""
        return WaitingChanges(0, np.zeros(size))

    def combine(
        self, state: WaitingChanges, weights: Weights, updates: Sequence[Weighed]
    ) -> tuple[WaitingChanges, Weights]:
        """Returns the changes that still wait, and the model moved by those that no longer do.

        Args:
            state: The memory of the rule.
            weights: w(t), shape (P,), float32.
            updates: The updates received, sorted by client and slot.
        """
        count, total, model = state.count, state.total.copy(), weights.astype(np.float64)
        # Departure: in the order of clients, not of arrival; staleness is counted in epochs, not in models, and when an
        # update arrives, so that the time in the buffer does not count.
        for weighed in updates:
            total += np.multiply(weighed.update.change, weighed.factor, dtype=np.float64)
            count += 1
            if count == self.k:
                model += self.eta / self.k * total
                count, total = 0, np.zeros_like(total)
        return WaitingChanges(count, total), model.astype(np.float32)
