"""FedAsync: each update pulls the model towards itself, one after another (Xie et al. 2019, arXiv 1903.03934)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.aggregation.base import Weighed
from fallow.models.weights import Weights


@dataclass(frozen=True)
class FedAsync:
    """w ← (1 − a)·w + a·w_i for one update after another, a = α · s(staleness), s from the section `staleness`.

    The source's s is `polynomial` with a = 0.5, or `hinge`; `constant`, the default there, is its α without s. How much
    data a client has does not count, as in the source. Without updates the model stays.

    Attributes:
        alpha: α, how far an update that is not late pulls the model.
    """

    alpha: Annotated[float, Field(gt=0, le=1, description="α, how far an update in time pulls the model")] = 0.6

    def init(self, size: int, data_sizes: NDArray[np.int64]) -> None:
        """Returns None: the rule has no memory."""

    def combine(self, state: None, weights: Weights, updates: Sequence[Weighed]) -> tuple[None, Weights]:
        """Returns None and the model after every update has pulled it.

        Args:
            state: The memory of the rule.
            weights: w(t), shape (P,), float32.
            updates: The updates received, sorted by client and slot.
        """
        total = weights.astype(np.float64)
        # Departure: in the order of clients, not of arrival, and the model is broadcast once an epoch.
        for weighed in updates:
            total += self.alpha * weighed.factor * (weighed.update.weights - total)
        return state, total.astype(np.float32)
