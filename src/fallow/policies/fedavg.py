"""FedAvg: everyone is selected and trains as soon as there is energy (reading 17)."""

from dataclasses import dataclass

import numpy as np

from fallow.policies.base import EpochView, Mask


@dataclass(frozen=True)
class FedAvg:
    """Everyone trains as soon as there is energy: the paper's greedy baseline.

    Examples:
        >>> from fallow.policies.check import check_policy
        >>> check_policy(FedAvg())
        []
    """

    def init(self, clients: int) -> None:
        """Returns None: the policy has no memory."""

    def select(self, state: None, view: EpochView, rng: np.random.Generator) -> tuple[None, Mask]:
        """Returns every client."""
        return None, np.ones(view.clients, dtype=np.bool_)
