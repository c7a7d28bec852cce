"""Random-k: k clients drawn afresh each epoch, whatever their battery and age."""

from dataclasses import dataclass

import numpy as np

from fallow.paper import largest
from fallow.policies.base import EpochView, Mask
from fallow.policies.vaoi import K


@dataclass(frozen=True)
class RandomK:
    """k clients at random, drawn afresh each epoch (reading 17's option)."""

    k: K = 10

    def init(self, clients: int) -> None:
        """Keeps no memory."""

    def select(self, state: None, view: EpochView, rng: np.random.Generator) -> tuple[None, Mask]:
        """Selects k clients, each with the same chance."""
        tie = rng.random(view.clients)
        return None, largest(np.zeros(view.clients, dtype=np.int32), self.k, tie)
