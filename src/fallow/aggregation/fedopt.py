"""FedOpt: an optimiser on the server is given the mean change (Reddi et al. 2021, arXiv 2003.00295, Algorithm 2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.aggregation.base import Weighed, data_shares
from fallow.aggregation.sums import Term, added
from fallow.models.weights import Weights


@dataclass(frozen=True, eq=False)
class Moments:
    """The memory of the optimiser.

    Attributes:
        first: m, shape (P,), float64.
        second: v, shape (P,), float64; not used by momentum.
    """

    first: NDArray[np.float64]
    second: NDArray[np.float64]


@dataclass(frozen=True)
class FedOpt:
    """w + a step of momentum, Adam or Yogi along Δ = Σβ_i·Δ_i over the updates received, Σβ_i = 1.

    - ``momentum`` (FedAvgM, Hsu et al. 2019, 1909.06335): m ← β₁m + Δ, w ← w + ηm.
    - ``adam`` (FedAdam): m ← β₁m + (1−β₁)Δ, v ← β₂v + (1−β₂)Δ², w ← w + ηm / (√v + τ).
    - ``yogi`` (FedYogi): the same, with v ← v − (1−β₂)Δ²·sign(v − Δ²).

    As in the source there is no correction of the first steps' bias. Without updates nothing is done: an epoch in
    which nothing arrived is no round. Δ_i is the change times its staleness weight.

    Attributes:
        method: Which optimiser.
        eta: η, the server's step; 0 is 1 for momentum and 0.01 for the others.
        beta1: β₁, how much of m is kept.
        beta2: β₂, how much of v is kept.
        tau: τ, how much the step adapts: the smaller, the more.
    """

    method: Annotated[
        Literal["momentum", "adam", "yogi"], Field(description="FedAvgM, FedAdam or FedYogi on the mean change")
    ] = "adam"
    eta: Annotated[
        float,
        Field(ge=0, description="η, the server's step; 0 is 1 for momentum, 0.01 for others"),
    ] = 0.0
    beta1: Annotated[float, Field(ge=0, lt=1, description="β₁, how much of the first moment is kept")] = 0.9
    beta2: Annotated[float, Field(ge=0, lt=1, description="β₂, how much of the second moment is kept")] = 0.99
    tau: Annotated[float, Field(gt=0, description="τ, how much the step adapts: the smaller, the more")] = 1e-3

    def init(self, size: int, data_sizes: NDArray[np.int64]) -> Moments:
        """Returns the moments before the first epoch: m = 0 and v = τ²."""
        return Moments(np.zeros(size), np.full(size, self.tau**2))

    def combine(self, state: Moments, weights: Weights, updates: Sequence[Weighed]) -> tuple[Moments, Weights]:
        """Returns the new moments and w(t+1).

        Args:
            state: The memory of the rule.
            weights: w(t), shape (P,), float32.
            updates: The updates received, sorted by client and slot.
        """
        if not updates:
            return state, weights
        # Departure: β_i by data size, as in Flower's FedOpt; Algorithm 2 has 1/|S|, the same for equally much data.
        shares = zip(updates, data_shares(updates), strict=True)
        terms = (Term(share * weighed.factor, weighed.update.change) for weighed, share in shares)
        mean = added(np.zeros(weights.size), terms)
        if self.method == "momentum":
            first = self.beta1 * state.first + mean
            return Moments(first, state.second), (weights + (self.eta or 1.0) * first).astype(np.float32)
        first = self.beta1 * state.first + (1 - self.beta1) * mean
        square = mean**2
        if self.method == "adam":
            second = self.beta2 * state.second + (1 - self.beta2) * square
        else:
            second = state.second - (1 - self.beta2) * square * np.sign(state.second - square)
        step = (self.eta or 0.01) * first / (np.sqrt(second) + self.tau)
        return Moments(first, second), (weights + step).astype(np.float32)
