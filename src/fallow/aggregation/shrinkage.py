"""Shrinkage: the fewer updates came, the smaller the step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.aggregation.base import Weighed, data_shares, moved
from fallow.models.weights import Weights


@dataclass(frozen=True)
class Shrinkage:
    """w + n/(n+m) · Σβ_i(w_i − w) for n updates, Σβ_i = 1: as if m more of the mean size had not moved."""

    m: Annotated[float, Field(ge=0, description="updates at which the step is halved")] = 5.0

    def init(self, size: int, data_sizes: NDArray[np.int64]) -> None:
        """Remembers nothing."""

    def combine(self, state: None, weights: Weights, updates: Sequence[Weighed]) -> tuple[None, Weights]:
        """Returns the model moved by a share of the mean update."""
        share = len(updates) / (len(updates) + self.m) if updates else 0.0
        return state, moved(weights, updates, [share * own for own in data_shares(updates)])
