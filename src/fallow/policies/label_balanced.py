"""Label-balanced: hold energy until enough clients are ready, then a few whose data, taken together, is balanced.

A rule of our own. What speaks for it: FedCGD (arXiv 2506.07581) and CaBaFL (arXiv 2404.12850), which bring together
clients whose classes complete each other.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.policies.base import EpochView, Mask, Needs
from fallow.policies.scoring import Floats, can_deliver


@dataclass(frozen=True)
class LabelBalanced:
    """Nobody until enough are ready; then the few whose mean mix of classes is nearest to uniform.

    Attributes:
        k: How many of the ready clients are selected.
        pool: How many must be ready: idle, and with the units of a training and its upload; all if that is fewer.
        by: "moments" reads the mix off h_i, the mean softmax over the last training, which the server keeps anyway;
            "labels" takes the shares of the classes, which breaks the privacy that federated learning promises.

    Examples:
        >>> from fallow.policies.check import check_policy
        >>> check_policy(LabelBalanced(k=2, pool=5))
        []
    """

    k: Annotated[int, Field(ge=1, description="k: clients selected when enough are ready")] = 4
    pool: Annotated[int, Field(ge=1, description="how many must be ready before anyone is selected")] = 12
    by: Annotated[
        Literal["moments", "labels"],
        Field(description="the mix by h_i, which the server has, or by labels, which breaks privacy"),
    ] = "moments"

    @property
    def needs(self) -> Needs:
        """The moments h_i, or the label mix."""
        return Needs(moments=self.by == "moments", label_mix=self.by == "labels")

    def init(self, clients: int) -> None:
        """Returns None: the policy has no memory."""

    def select(self, state: None, view: EpochView, rng: np.random.Generator) -> tuple[None, Mask]:
        """Returns at most k ready clients, added one by one so that the mean mix stays nearest to uniform."""
        tie = rng.random(view.clients)
        mix, has_data = known_mix(view.moments if self.by == "moments" else view.label_mix)
        able = can_deliver(view) & has_data
        selected = np.zeros(view.clients, dtype=np.bool_)
        if np.count_nonzero(able) < min(self.pool, view.clients):
            return None, selected
        total = np.zeros(mix.shape[1])
        for count in range(1, min(self.k, int(np.count_nonzero(able))) + 1):
            left = np.flatnonzero(able & ~selected)
            distance = np.square((total + mix[left]) / count - 1 / mix.shape[1]).sum(axis=1)
            chosen = left[np.lexsort((tie[left], distance.round(12)))[0]]  # rounded: a tie is one, whatever the order
            selected[chosen] = True
            total = total + mix[chosen]
        return None, selected


def known_mix(shares: NDArray[np.floating]) -> tuple[Floats, Mask]:
    """Returns a mix of classes for each client, and whether the client has data at all.

    A row that is no mix (NaN, infinite or negative somewhere) is not known and counts as uniform, so that a client that
    never trained is tried early. A row of zeros belongs to a client without samples.

    Args:
        shares: The label mix, or the moments, shape (N, K), float32 or float64.

    Returns:
        Rows that sum to 1, shape (N, K), float64, and shape (N,), bool.

    Examples:
        >>> known_mix(np.array([[3.0, 1.0], [np.nan, np.nan], [0.0, 0.0]]))
        (array([[0.75, 0.25],
               [0.5 , 0.5 ],
               [0.5 , 0.5 ]]), array([ True,  True, False]))
    """
    rows = shares.astype(np.float64)
    is_mix: Mask = np.all(np.isfinite(rows) & (rows >= 0), axis=1)
    total = np.where(is_mix, np.where(is_mix[:, None], rows, 0.0).sum(axis=1), 0.0)
    mix = np.full(rows.shape, 1 / rows.shape[1])
    known = total > 0
    mix[known] = rows[known] / total[known, None]
    return mix, ~(is_mix & (total == 0))
