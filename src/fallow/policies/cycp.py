"""CyCP: fixed random groups take turns, and inside the group whose turn it is chance decides.

Source: Y. J. Cho et al., "On the Convergence of Federated Averaging with Cyclic Client Participation",
arXiv 2302.03109.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.policies.base import EpochView, Mask
from fallow.policies.scoring import drawn
from fallow.policies.vaoi import K


@dataclass(frozen=True)
class Cycle:
    """The memory of CyCP.

    Attributes:
        group: The group of each client, shape (N,), int32; −1 for a client that has none yet.
    """

    group: NDArray[np.int32]


@dataclass(frozen=True)
class CyCP:
    """Fixed random groups in turn, one an epoch; k clients of the group at random.

    Attributes:
        k: How many clients are selected in an epoch; the whole group if it is smaller.
        groups: How many groups of nearly equal size there are.

    Examples:
        >>> from fallow.policies.check import check_policy
        >>> check_policy(CyCP(k=5, groups=2))
        []
    """

    k: K = 10
    groups: Annotated[int, Field(ge=1, description="groups that take turns, one an epoch")] = 5

    def init(self, clients: int) -> Cycle:
        """Returns the first memory: the groups are drawn in the first epoch."""
        return Cycle(np.full(clients, -1, dtype=np.int32))

    def select(self, state: Cycle, view: EpochView, rng: np.random.Generator) -> tuple[Cycle, Mask]:
        """Returns the groups, and k clients of group t mod G."""
        uniform, order = rng.random((2, view.clients))
        group = state.group.copy()
        new = np.flatnonzero(group < 0)  # everyone in the first epoch; on real nodes, also whoever joins later
        group[new[np.argsort(order[new])]] = np.arange(new.size) * self.groups // max(new.size, 1)
        taking_turn = group == view.epoch % self.groups
        return Cycle(group), drawn(np.ones(view.clients), self.k, uniform, taking_turn)
