"""Shrinkage: the fewer updates arrive, the smaller the step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.aggregation.base import By, Weighed, data_shares, moved
from fallow.models.weights import Weights


@dataclass(frozen=True)
class Shrinkage:
    """w + n/(n+m) · Σβ_i(w_i − w) for n updates, Σβ_i = 1: as if m more of the mean size had not moved.

    None received: w stays.

    Attributes:
        m: The number of updates at which the step is halved.
        by: "changes" puts Δ_i in the place of w_i − w.
    """

    m: Annotated[float, Field(ge=0, description="updates at which the step is halved")] = 5.0
    by: By = "weights"

    def init(self, size: int, data_sizes: NDArray[np.int64]) -> None:
        """Returns None: the rule has no memory."""

    def combine(self, state: None, weights: Weights, updates: Sequence[Weighed]) -> tuple[None, Weights]:
        """Returns None and w(t) moved by n/(n+m) of the mean update.

        Args:
            state: The memory of the rule.
            weights: w(t), shape (P,), float32.
            updates: The updates received, sorted by client and slot.
        """
        share = len(updates) / (len(updates) + self.m) if updates else 0.0
        shares = [share * data_share for data_share in data_shares(updates)]
        return state, moved(weights, updates, shares, self.by)
