"""Fullest battery: the k clients with the most energy train."""

from dataclasses import dataclass

import numpy as np

from fallow.paper import largest
from fallow.policies.base import EpochView, Mask
from fallow.policies.vaoi import K


@dataclass(frozen=True)
class FullestBattery:
    """The k clients with the most energy.

    Attributes:
        k: How many clients are selected in an epoch.

    Examples:
        >>> from fallow.policies.check import check_policy
        >>> check_policy(FullestBattery(k=5))
        []
    """

    k: K = 10

    def init(self, clients: int) -> None:
        """Returns None: the policy has no memory."""

    def select(self, state: None, view: EpochView, rng: np.random.Generator) -> tuple[None, Mask]:
        """Returns the k clients with the fullest batteries; chooses at random among equals."""
        return None, largest(view.battery, self.k, rng.random(view.clients))
