"""EAFL: Oort with the energy left as a part of the utility.

Source: A. Arouj and A. M. Abdelmoniem, "Towards Energy-Aware Federated Learning on Battery-Powered Clients",
arXiv 2208.04505, and its code (github.com/SAYED-Sys-Lab/EAFL): reward = f·U + (1 − f)·energy, with f = 0.25.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from fallow.policies.base import EpochView, Mask, Needs
from fallow.policies.oort import Decay, ExplorationShare, Guide, LeastExploration, Oort, Pace, Penalty, select_guided
from fallow.policies.vaoi import K


@dataclass(frozen=True)
class EAFL:
    """Oort, with the utility 0.25·U_i + 0.75·E_i / E_max, both normalised.

    Attributes:
        k: How many clients are selected in an epoch.
        energy_weight: The share of the energy left in the utility; 0 is Oort.
        exploration: ε at first, the share of the k for clients never tried.
        decay: The factor on ε each epoch.
        least_exploration: Where ε stops falling while anyone is untried.
        penalty: The exponent of the penalty of slow clients.
        pace: After how many epochs the preferred duration T is thought over.

    Examples:
        >>> from fallow.policies.check import check_policy
        >>> check_policy(EAFL(k=5))
        []
    """

    k: K = 10
    energy_weight: Annotated[float, Field(ge=0, le=1, description="share of the energy left in the utility")] = 0.75
    exploration: ExplorationShare = 0.9
    decay: Decay = 0.98
    least_exploration: LeastExploration = 0.3
    penalty: Penalty = 2.0
    pace: Pace = 20

    @property
    def needs(self) -> Needs:
        """What Oort needs."""
        return self._oort().needs

    def init(self, clients: int) -> Guide:
        """Returns the first memory: nobody was tried."""
        return self._oort().init(clients)

    def select(self, state: Guide, view: EpochView, rng: np.random.Generator) -> tuple[Guide, Mask]:
        """Returns what Oort would with the energy in its utility.

        Ours: U_i is scaled to 0…1 as in Oort, in the place of a division by a constant that fits one dataset. Energy
        counts in the promise of the never tried in the same way, so that it counts from the first epoch.
        """
        return select_guided(self._oort(), state, view, rng, self.energy_weight)

    def _oort(self) -> Oort:
        return Oort(self.k, self.exploration, self.decay, self.least_exploration, self.penalty, self.pace)
