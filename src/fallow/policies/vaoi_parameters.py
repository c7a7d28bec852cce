"""VAoI by parameters: the version age of Eq. (2), with the distance over all of the model's parameters."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from fallow.paper import PAPER_MU
from fallow.policies.base import EpochView, Mask, Needs
from fallow.policies.vaoi import Ages, Chosen, K, Reset, VAoI


@dataclass(frozen=True)
class VAoIParameters:
    """VAoI by the distance between whole models (Eq. 2), which every client keeps.

    Attributes:
        k: How many clients are selected in an epoch.
        threshold: μ of Eq. (2), the distance between whole models from which a change is significant.
        choice: "top-k" takes the k oldest; "sample" draws k with weights proportional to age (reading 5); "exp" with
            weights exp(X_i), as in Hu, Pappas, Yang, arXiv 2402.05407, whose distance is the L1 norm; ours is L2.
        reset: What sets an age to zero: being "selected", or an update that is "aggregated" (reading 7).

    Examples:
        >>> from fallow.policies.check import check_policy
        >>> check_policy(VAoIParameters(k=5))
        []
    """

    k: K = 10
    threshold: Annotated[
        float, Field(ge=0, description="μ of Eq. (2): distance between whole models from which a change is significant")
    ] = PAPER_MU
    choice: Chosen = "top-k"
    reset: Reset = "selected"

    @property
    def needs(self) -> Needs:
        """The distance between whole models (Eq. 2), significant from the threshold on."""
        return Needs(distance="parameters", threshold=self.threshold)

    def init(self, clients: int) -> Ages:
        """Returns the first memory: every age is zero."""
        return self._version_age().init(clients)

    def select(self, state: Ages, view: EpochView, rng: np.random.Generator) -> tuple[Ages, Mask]:
        """Returns what VAoI would; `view.distance` is the distance between parameters."""
        return self._version_age().select(state, view, rng)

    def _version_age(self) -> VAoI:
        return VAoI(self.k, self.threshold, self.choice, self.reset)
