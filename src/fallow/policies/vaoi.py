"""VAoI: the k clients with the largest version age train (the paper's proposal)."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.paper import PAPER_MU, largest, next_version_age, sampled
from fallow.policies.base import EpochView, Mask, Needs

K = Annotated[int, Field(ge=1, description="k: clients selected an epoch")]
Chosen = Annotated[
    Literal["top-k", "sample"],
    Field(description="the k oldest, or k drawn with weights proportional to age (reading 5)"),
]
Reset = Annotated[
    Literal["selected", "aggregated"],
    Field(description="what sets an age to zero: being selected, or an update received (reading 7)"),
]


@dataclass(frozen=True)
class Ages:
    """The memory of a policy that counts ages.

    Attributes:
        age: X_i(t), shape (N,), int32; under reset = "aggregated" before what the epoch will deliver.
    """

    age: NDArray[np.int32]


@dataclass(frozen=True)
class VAoI:
    """The k clients with the largest version age train: Algorithm 2, with the options of readings 5 and 7."""

    k: K = 10
    mu: Annotated[float, Field(ge=0, description="μ: distance from which a change is significant")] = PAPER_MU
    choice: Chosen = "top-k"
    reset: Reset = "selected"

    @property
    def needs(self) -> Needs:
        """The distance between features (Eq. 5), significant from μ on."""
        return Needs(distance="features", threshold=self.mu)

    def init(self, clients: int) -> Ages:
        """Every age is zero at first."""
        return Ages(np.zeros(clients, dtype=np.int32))

    def select(self, state: Ages, view: EpochView, rng: np.random.Generator) -> tuple[Ages, Mask]:
        """Chooses by X(t) and steps to X(t+1)."""
        by_selection = self.reset == "selected"
        age = state.age if by_selection else np.where(view.delivered, np.int32(0), state.age)
        tie = rng.random(view.clients)
        selected = (largest if self.choice == "top-k" else sampled)(age, self.k, tie)
        takes_part = selected if by_selection else np.zeros_like(selected)
        return Ages(next_version_age(age, view.distance, self.mu, takes_part)), selected
