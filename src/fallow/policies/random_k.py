"""Random-k: k clients drawn afresh each epoch, whatever their battery and age."""

from dataclasses import dataclass

import numpy as np

from fallow.paper import largest
from fallow.policies.base import EpochView, Mask
from fallow.policies.vaoi import K


@dataclass(frozen=True)
class RandomK:
    """k clients at random, drawn afresh each epoch (reading 17's option).

    Attributes:
        k: How many clients are selected in an epoch.

    Examples:
        >>> from fallow.policies.check import check_policy
        >>> check_policy(RandomK(k=5))
        []
    """

    k: K = 10

    def init(self, clients: int) -> None:
        """Returns None: the policy has no memory."""

    def select(self, state: None, view: EpochView, rng: np.random.Generator) -> tuple[None, Mask]:
        """Returns k clients; each has the same chance."""
        tie = rng.random(view.clients)
        return None, largest(np.zeros(view.clients, dtype=np.int32), self.k, tie)
