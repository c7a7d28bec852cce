"""Fullest battery: the k clients with the most energy train."""

from dataclasses import dataclass

import numpy as np

from fallow.paper import largest
from fallow.policies.base import EpochView, Mask
from fallow.policies.vaoi import K


@dataclass(frozen=True)
class FullestBattery:
    """The k clients with the most energy."""

    k: K = 10

    def init(self, clients: int) -> None:
        """Keeps no memory."""

    def select(self, state: None, view: EpochView, rng: np.random.Generator) -> tuple[None, Mask]:
        """Selects the k fullest; among equals at random."""
        return None, largest(view.battery, self.k, rng.random(view.clients))
