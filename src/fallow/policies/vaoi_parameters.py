"""VAoI by parameters: the version age of Eq. (2), with the distance over all of the model's parameters."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from fallow.policies.base import EpochView, Mask
from fallow.policies.vaoi import Ages, Chosen, K, Reset, VAoI


@dataclass(frozen=True)
class VAoIParameters:
    """VAoI by the distance between whole models (Eq. 2), which every client keeps."""

    k: K = 10
    threshold: Annotated[
        float, Field(ge=0, description="μ of Eq. (2): distance between whole models from which a change is significant")
    ] = 0.5
    choice: Chosen = "top-k"
    reset: Reset = "selected"

    probes: ClassVar[bool] = True
    distance: ClassVar[str] = "parameters"

    def init(self, clients: int) -> Ages:
        """Every age is zero at first."""
        return self._version_age().init(clients)

    def select(self, state: Ages, view: EpochView, rng: np.random.Generator) -> tuple[Ages, Mask]:
        """Chooses as VAoI does; `view.distance` is the distance between parameters."""
        return self._version_age().select(state, view, rng)

    def _version_age(self) -> VAoI:
        return VAoI(self.k, self.threshold, self.choice, self.reset)
