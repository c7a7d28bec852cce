"""FedVARP: changes, corrected by what is remembered of everybody (Jhunjhunwala et al. 2022, arXiv 2207.14130)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.aggregation.base import Weighed, data_shares
from fallow.aggregation.memory import Changes, Numbers, Place, no_changes, sound_change
from fallow.aggregation.sums import Term, added
from fallow.models.weights import Weights


@dataclass(frozen=True)
class FedVarp:
    """w + η · [Σ_S β_i(Δ_i − β·y_i) + β · Σ β_j·y_j], y_i the last change of client i; then y_i becomes Δ_i.

    The first sum is over the updates received, the second over all clients, each with Σβ = 1. β is that of FedStale
    (Rodio and Neglia 2024, 2405.04171): 1 is FedVARP, 0 the mean of the changes received. Departure from FedStale: it
    divides by each client's probability to take part, which nobody knows here. Without updates the model stays: the
    sources know no round without participants. Δ_i is the change times its staleness weight.

    Attributes:
        eta: η, the server's step.
        beta: β, how much of what is remembered counts.
        memory: What a remembered number is kept as.
        where: Where changes are remembered.
    """

    eta: Annotated[float, Field(gt=0, description="η, the server's step")] = 1.0
    beta: Annotated[
        float, Field(ge=0, le=1, description="how much of what is remembered counts: 1 is FedVARP, 0 forgets")
    ] = 1.0
    memory: Numbers = "float32"
    where: Place = "ram"

    def init(self, size: int, data_sizes: NDArray[np.int64]) -> Changes:
        """Returns an empty memory."""
        return no_changes(size, data_sizes, self.memory, self.where)

    def combine(self, state: Changes, weights: Weights, updates: Sequence[Weighed]) -> tuple[Changes, Weights]:
        """Returns the memory with the new changes, and w(t+1).

        Args:
            state: The memory of the rule.
            weights: w(t), shape (P,), float32.
            updates: The updates received, sorted by client and slot; of a client's two, the later is remembered.
        """
        if not updates:
            return state, weights
        brought = [(weighed.update.client, sound_change(weighed)) for weighed in updates]
        # Departure: β_i and β_j by data size, for the source's 1/|S| and 1/N; the same for equally much data.
        terms = (
            Term(share, change, self.beta, state.last(client))
            for (client, change), share in zip(brought, data_shares(updates), strict=True)
        )
        step = added(self.beta * state.mean(), terms)
        return state.with_changes(dict(brought)), (weights + self.eta * step).astype(np.float32)

    def resize(self, state: Changes, data_sizes: NDArray[np.int64]) -> Changes:
        """Returns the memory for clients that came, or whose data changed.

        Args:
            state: The memory of the rule.
            data_sizes: |D_i| of every client, those known before first, shape (N,), int64.
        """
        return state.with_sizes(data_sizes)
