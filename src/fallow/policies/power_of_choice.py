"""Power-of-choice: of d candidates, the k whose loss under the new model is largest.

Source: Y. J. Cho, J. Wang, G. Joshi, "Client Selection in Federated Learning: Convergence Analysis and Power-of-Choice
Selection Strategies", arXiv 2010.01243.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from fallow.policies.base import EpochView, Mask, Needs
from fallow.policies.scoring import best, drawn
from fallow.policies.vaoi import K


@dataclass(frozen=True)
class PowerOfChoice:
    """Of d candidates drawn by data size, the k with the largest loss.

    Attributes:
        k: How many clients are selected in an epoch.
        d: How many candidates there are; k if that is more.
        variant: "pow-d" asks the candidates for their loss under the new model; "rpow-d" takes the loss of their last
            training, and asks nobody.

    Examples:
        >>> from fallow.policies.check import check_policy
        >>> check_policy(PowerOfChoice(k=5, variant="rpow-d"))
        []
    """

    k: K = 10
    d: Annotated[int, Field(ge=1, description="candidates, drawn by data size; at least k")] = 20
    variant: Annotated[
        Literal["pow-d", "rpow-d"],
        Field(description="the loss under the new model, by the probe, or that of the last training"),
    ] = "pow-d"

    @property
    def needs(self) -> Needs:
        """The data sizes, and the loss of the probe or of the last training."""
        return Needs(probe_loss=self.variant == "pow-d", training_loss=self.variant == "rpow-d", data_size=True)

    def init(self, clients: int) -> None:
        """Returns None: the policy has no memory."""

    def select(self, state: None, view: EpochView, rng: np.random.Generator) -> tuple[None, Mask]:
        """Returns the k candidates with the largest loss; chooses at random among equals."""
        uniform, tie = rng.random((2, view.clients))
        everyone = np.ones(view.clients, dtype=np.bool_)
        candidates = drawn(view.data_size.astype(np.float64), max(self.d, self.k), uniform, everyone)
        if self.variant == "rpow-d":
            loss, unknown = view.training_loss, np.inf  # a client that never trained goes first
        else:
            # Ours: every client is probed, not the candidates alone; one that could not pay for its probe goes last.
            loss, unknown = view.probe_loss, -np.inf
        score = np.where(np.isnan(loss), unknown, loss.astype(np.float64))
        return None, best(score, self.k, tie, candidates)
