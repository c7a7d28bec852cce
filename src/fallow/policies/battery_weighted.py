"""Battery-weighted: clients drawn with the square of their charge, none of them nearly empty.

Source: github.com/nozzolillo01/battery-aware-federated-learning (P ∝ battery², at least 20 %).
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from fallow.policies.base import EpochView, Mask
from fallow.policies.scoring import drawn
from fallow.policies.vaoi import K


@dataclass(frozen=True)
class BatteryWeighted:
    """k clients drawn with weights (E_i / E_max)², none below a fifth of its capacity.

    Attributes:
        k: How many clients are selected in an epoch.
        exponent: The power of the charge in the weight.
        least: The least charge that is drawn, as a share of the capacity.

    Examples:
        >>> from fallow.policies.check import check_policy
        >>> check_policy(BatteryWeighted(k=5))
        []
    """

    k: K = 10
    exponent: Annotated[float, Field(ge=0, description="power of the charge in the weight")] = 2.0
    least: Annotated[float, Field(ge=0, le=1, description="least charge that is drawn, a share of the capacity")] = 0.2

    def init(self, clients: int) -> None:
        """Returns None: the policy has no memory."""

    def select(self, state: None, view: EpochView, rng: np.random.Generator) -> tuple[None, Mask]:
        """Returns at most k clients, drawn by their charge.

        Ours: where too few are charged, fewer are drawn; the source then takes the fullest, who could not start here.
        """
        charge = view.battery / np.maximum(view.capacity, 1)
        return None, drawn(charge**self.exponent, self.k, rng.random(view.clients), charge >= self.least)
