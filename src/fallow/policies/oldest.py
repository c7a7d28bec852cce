"""Oldest first: plain age of information, which grows each epoch whether or not the model changed."""

from dataclasses import dataclass, replace

import numpy as np

from fallow.policies.base import EpochView, Mask
from fallow.policies.vaoi import Ages, K, Reset, VAoI


@dataclass(frozen=True)
class Oldest:
    """The k clients that waited longest: VAoI for which every change is significant, without a probe.

    Attributes:
        k: How many clients are selected in an epoch.
        reset: What sets an age to zero: being "selected", or an update that is "aggregated" (reading 7).

    Examples:
        >>> from fallow.policies.check import check_policy
        >>> check_policy(Oldest(k=5))
        []
    """

    k: K = 10
    reset: Reset = "selected"

    def init(self, clients: int) -> Ages:
        """Returns the first memory: every age is zero."""
        return self._version_age().init(clients)

    def select(self, state: Ages, view: EpochView, rng: np.random.Generator) -> tuple[Ages, Mask]:
        """Returns the next ages and the k oldest clients; all others grow older."""
        significant = np.broadcast_to(np.float32(np.inf), view.clients)
        return self._version_age().select(state, replace(view, distance=significant), rng)

    def _version_age(self) -> VAoI:
        return VAoI(k=self.k, reset=self.reset)
