"""Foresight: knows what every client will harvest, and spends what would be lost first. A bound, not a device.

A rule of our own: it shows what knowing the harvest is worth, to a policy that looks at energy alone.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from fallow.policies.base import EpochView, Mask, Needs
from fallow.policies.scoring import future_harvest, idle, update_cost
from fallow.policies.vaoi import K


@dataclass(frozen=True)
class Foresight:
    """Of those whose energy suffices in this epoch, the k whose batteries would overflow first; knows the future.

    Attributes:
        k: How many clients are selected in an epoch.
        horizon: How many epochs ahead the harvest is known.

    Examples:
        >>> from fallow.policies.check import check_policy
        >>> check_policy(Foresight(k=5))
        []
    """

    k: K = 10
    horizon: Annotated[int, Field(ge=1, le=1000, description="epochs for which the harvest is known")] = 10

    @property
    def needs(self) -> Needs:
        """A forecast without error."""
        return Needs(forecast_epochs=self.horizon, forecast_error=0.0)

    def init(self, clients: int) -> None:
        """Returns None: the policy has no memory."""

    def select(self, state: None, view: EpochView, rng: np.random.Generator) -> tuple[None, Mask]:
        """Returns at most k clients that can train and send with what they have by the end of this epoch.

        First come those that would overflow in the earliest epoch if they rested, among these those that would lose the
        most; then those that would not overflow within the horizon, the fullest at its end first.
        """
        tie = rng.random(view.clients)
        level = view.battery[:, None] + future_harvest(view)
        able = idle(view) & (level[:, 0] >= update_cost(view))
        overflows = level > view.capacity[:, None]
        epoch = np.where(overflows.any(axis=1), overflows.argmax(axis=1), level.shape[1] - 1)
        above_brim = np.take_along_axis(level, epoch[:, None], axis=1)[:, 0] - view.capacity
        order = np.lexsort((tie, -above_brim, epoch, ~able))
        selected = np.zeros(view.clients, dtype=np.bool_)
        selected[order[: self.k]] = True
        return None, selected & able
