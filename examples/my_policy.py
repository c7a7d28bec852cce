"""A policy of your own: among the clients with enough energy to train now, k at random.

fallow check my_policy:LuckyFew
fallow run --set policy.name=my_policy:LuckyFew --set policy.k=5
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class LuckyFew:
    """Selects only clients that could start at once."""

    k: int = 10

    def init(self, clients):
        """Keeps no memory."""

    def select(self, state, view, rng):
        """Draws k of those who are charged and idle."""
        able = np.flatnonzero((view.battery >= view.train_cost) & ~view.training & ~view.unsent)
        mask = np.zeros(view.clients, dtype=bool)
        mask[rng.permutation(able)[: self.k]] = True
        return state, mask
