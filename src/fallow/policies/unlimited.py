"""Unlimited: everyone trains each epoch at no cost. No device can; it bounds what learning could reach."""

from dataclasses import dataclass

import numpy as np

from fallow.policies.base import EpochView, Mask, Needs


@dataclass(frozen=True)
class Unlimited:
    """Everyone trains each epoch at no cost: the upper bound, for which the world sets time and energy aside.

    Examples:
        >>> from fallow.policies.check import check_policy
        >>> check_policy(Unlimited())
        []
    """

    @property
    def needs(self) -> Needs:
        """A world that ignores time and energy."""
        return Needs(ideal=True)

    def init(self, clients: int) -> None:
        """Returns None: the policy has no memory."""

    def select(self, state: None, view: EpochView, rng: np.random.Generator) -> tuple[None, Mask]:
        """Returns every client."""
        return None, np.ones(view.clients, dtype=np.bool_)
