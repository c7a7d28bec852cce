"""MIFA: whoever is absent is stood in for by its last change (Gu et al. 2021, arXiv 2106.04159, Algorithm 1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.aggregation.base import Weighed
from fallow.aggregation.memory import Changes, Numbers, Place, no_changes, sound_change
from fallow.models.weights import Weights


@dataclass(frozen=True)
class Mifa:
    """w + η · Σβ_j·y_j over all clients, y_j the last change of client j, β_j = |D_j| / Σ|D|.

    Without updates the model goes on moving by the mean that is remembered, as in the source, whose server moves in
    every round whoever is there. What is remembered of a client is its change times its staleness weight.

    Attributes:
        eta: η, the server's step.
        memory: What a remembered number is kept as.
        where: Where changes are remembered.
    """

    eta: Annotated[float, Field(gt=0, description="η, the server's step")] = 1.0
    memory: Numbers = "float32"
    where: Place = "ram"

    def init(self, size: int, data_sizes: NDArray[np.int64]) -> Changes:
        """Returns an empty memory."""
        # Departure: the authors' server waits until everyone was there once; here a client counts with 0 until then.
        return no_changes(size, data_sizes, self.memory, self.where)

    def combine(self, state: Changes, weights: Weights, updates: Sequence[Weighed]) -> tuple[Changes, Weights]:
        """Returns the memory with the new changes, and w(t) moved by their mean over all clients.

        Args:
            state: The memory of the rule.
            weights: w(t), shape (P,), float32.
            updates: The updates received, sorted by client and slot; of a client's two, the later is remembered.
        """
        if updates:
            state = state.with_changes({weighed.update.client: sound_change(weighed) for weighed in updates})
        # Departure: β_j by data size, for the source's 1/N; the same for clients with equally much data.
        return state, (weights + self.eta * state.mean()).astype(np.float32)

    def resize(self, state: Changes, data_sizes: NDArray[np.int64]) -> Changes:
        """Returns the memory for clients that came, or whose data changed.

        Args:
            state: The memory of the rule.
            data_sizes: |D_i| of every client, those known before first, shape (N,), int64.
        """
        return state.with_sizes(data_sizes)
