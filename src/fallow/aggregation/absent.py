"""All: the mean over every client, where one without an update stands in with w(t) (reading 1, option)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fallow.aggregation.base import Weighed, moved
from fallow.models.weights import Weights


@dataclass(frozen=True)
class TotalData:
    """What the rule remembers: Σ|D_i| over all clients."""

    samples: int


@dataclass(frozen=True)
class All:
    """w + Σβ_i(w_i − w) with β_i = |D_i| / Σ|D_j| over all clients, as printed."""

    def init(self, size: int, data_sizes: NDArray[np.int64]) -> TotalData:
        """Remembers how much data there is."""
        return TotalData(int(data_sizes.sum()))

    def combine(self, state: TotalData, weights: Weights, updates: Sequence[Weighed]) -> tuple[TotalData, Weights]:
        """Returns the mean in which the absent did not move."""
        return state, moved(weights, updates, [one.update.data_size / state.samples for one in updates])
