"""Round-robin: the clients take turns, k an epoch, in the order of their numbers."""

from dataclasses import dataclass

import numpy as np

from fallow.policies.base import EpochView, Mask
from fallow.policies.vaoi import K


@dataclass(frozen=True)
class Turn:
    """Whose turn it is.

    Attributes:
        first: The first client of the next epoch's turn.
    """

    first: int


@dataclass(frozen=True)
class RoundRobin:
    """The clients in turn, k an epoch: everyone equally often.

    Attributes:
        k: How many clients are selected in an epoch.

    Examples:
        >>> from fallow.policies.check import check_policy
        >>> check_policy(RoundRobin(k=5))
        []
    """

    k: K = 10

    def init(self, clients: int) -> Turn:
        """Returns the first memory: client 0 begins."""
        return Turn(first=0)

    def select(self, state: Turn, view: EpochView, rng: np.random.Generator) -> tuple[Turn, Mask]:
        """Returns the next turn and the next k clients."""
        k = min(self.k, view.clients)
        selected = np.zeros(view.clients, dtype=np.bool_)
        selected[(state.first + np.arange(k)) % view.clients] = True
        return Turn(first=(state.first + k) % view.clients), selected
