"""VAoI: the k clients with the largest version age train (the paper's proposal)."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.paper import PAPER_MU, largest, next_version_age, sampled
from fallow.policies.base import EpochView, Mask, Needs
from fallow.policies.scoring import drawn

K = Annotated[int, Field(ge=1, description="k: clients selected an epoch")]
Chosen = Annotated[
    Literal["top-k", "sample", "exp"],
    Field(description="the k oldest, or k drawn with weights X (reading 5) or exp(X) (Hu et al.)"),
]
Reset = Annotated[
    Literal["selected", "aggregated"],
    Field(description="what sets an age to zero: being selected, or an update received (reading 7)"),
]


@dataclass(frozen=True)
class Ages:
    """The memory of a policy that counts ages.

    Attributes:
        age: X_i(t), shape (N,), int32. With reset = "aggregated", the updates of the last epoch are not counted yet.
    """

    age: NDArray[np.int32]


def _sampled_exponentially(age: NDArray[np.int32], k: int, tie: NDArray[np.float64]) -> Mask:
    """Returns k clients drawn without replacement with weights exp(X_i − max X), shape (N,), bool."""
    # Hu et al. draw by h(X) = exp(X); we subtract the largest age, which changes no probability and can't overflow.
    weight = np.exp((age - age.max()).astype(np.float64))
    return drawn(weight, k, tie, np.ones(age.size, dtype=np.bool_))


CHOOSERS = {"top-k": largest, "sample": sampled, "exp": _sampled_exponentially}


@dataclass(frozen=True)
class VAoI:
    """The k clients with the largest version age train: Algorithm 2, with the options of readings 5 and 7.

    Attributes:
        k: How many clients are selected in an epoch.
        mu: μ, the distance from which a change is significant.
        choice: "top-k" takes the k oldest; "sample" draws k with weights proportional to age (reading 5); "exp" with
            weights exp(X_i), as in Hu, Pappas, Yang, arXiv 2402.05407.
        reset: What sets an age to zero: being "selected", or an update that is "aggregated" (reading 7).

    Examples:
        >>> from fallow.policies.check import check_policy
        >>> check_policy(VAoI(k=5, mu=0.3))
        []
    """

    k: K = 10
    mu: Annotated[float, Field(ge=0, description="μ: distance from which a change is significant")] = PAPER_MU
    choice: Chosen = "top-k"
    reset: Reset = "selected"

    @property
    def needs(self) -> Needs:
        """The distance between features (Eq. 5), significant from μ on."""
        return Needs(distance="features", threshold=self.mu)

    def init(self, clients: int) -> Ages:
        """Returns the first memory: every age is zero."""
        return Ages(np.zeros(clients, dtype=np.int32))

    def select(self, state: Ages, view: EpochView, rng: np.random.Generator) -> tuple[Ages, Mask]:
        """Returns the ages X(t+1), and the k clients chosen by X(t)."""
        by_selection = self.reset == "selected"
        age = state.age if by_selection else np.where(view.delivered, np.int32(0), state.age)
        tie = rng.random(view.clients)
        selected = CHOOSERS[self.choice](age, self.k, tie)
        takes_part = selected if by_selection else np.zeros_like(selected)
        return Ages(next_version_age(age, view.distance, self.mu, takes_part)), selected
