"""FedZero's idea: of the clients whose forecast energy suffices, those with the most to learn; who took part rests.

Source: P. Wiesner et al., "FedZero: Leveraging Renewable Excess Energy in Federated Learning", and its code
(github.com/dos-group/fedzero, selection_strategy.py). There, clients share the power of a zone, and a mixed-integer
programme divides it. With a battery for each client the programme falls apart into one question a client, and no
solver is needed.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.policies.base import EpochView, Mask, Needs
from fallow.policies.needs import MOST_ERROR, ForecastBy
from fallow.policies.scoring import Floats, best, future_harvest, idle, statistical_utility, update_cost
from fallow.policies.vaoi import K


@dataclass(frozen=True)
class Blocklist:
    """The memory of FedZero.

    Attributes:
        blocked: Who rests after taking part, shape (N,), bool.
    """

    blocked: NDArray[np.bool_]


@dataclass(frozen=True)
class FedZero:
    """Of those with enough energy in the shortest horizon that serves k clients, the k with the largest utility.

    Attributes:
        k: How many clients are selected in an epoch. While fewer can finish, nobody is.
        alpha: α: a resting client is released with probability min(α / (part_i − ω), 1).
        exclusion: Which share of the clients that delivered last rests, those with the least utility; 1 is all.
        forecast_epochs: The longest horizon, in epochs.
        forecast_error: The relative error of a forecast by the truth; 0 knows the future.
        forecast_by: "truth": the true future times an error; "model": what the energy model expects.

    Examples:
        >>> from fallow.policies.check import check_policy
        >>> check_policy(FedZero(k=5))
        []
    """

    k: K = 10
    alpha: Annotated[float, Field(gt=0, description="α: how soon a client that rests is released")] = 1.0
    exclusion: Annotated[
        float, Field(ge=0, le=1, description="share of those that delivered last that rest; the least useful")
    ] = 1.0
    forecast_epochs: Annotated[int, Field(ge=1, le=1000, description="longest horizon, in epochs")] = 4
    forecast_error: Annotated[
        float, Field(ge=0, le=MOST_ERROR, description="relative error of a forecast by the truth; 0 knows the future")
    ] = 0.2
    forecast_by: Annotated[
        ForecastBy, Field(description="the true future times an error, or what the energy model itself expects")
    ] = "truth"

    @property
    def needs(self) -> Needs:
        """A forecast of the harvest, the loss of the last training, data sizes, and how often clients delivered."""
        return Needs(
            training_loss=True,
            data_size=True,
            participation=True,
            forecast_epochs=self.forecast_epochs,
            forecast_error=self.forecast_error if self.forecast_by == "truth" else 0.0,
            forecast_by=self.forecast_by,
        )

    def init(self, clients: int) -> Blocklist:
        """Returns the first memory: nobody rests."""
        return Blocklist(np.zeros(clients, dtype=np.bool_))

    def select(self, state: Blocklist, view: EpochView, rng: np.random.Generator) -> tuple[Blocklist, Mask]:
        """Returns who rests, and the k clients with the largest utility that can finish soonest."""
        uniform, tie = rng.random((2, view.clients))
        utility = statistical_utility(view)
        utility = np.where(np.isnan(utility), np.inf, utility)  # ours: a client that never trained goes first
        blocked = (state.blocked | self._resting(view, utility)) & (uniform > self._release(view.deliveries))
        able = idle(view) & ~blocked
        # Utility alone: a training is all or nothing here, so everyone makes the same progress.
        return Blocklist(blocked), best(utility, self.k, tie, able & self._feasible(view, able))

    def _resting(self, view: EpochView, utility: Floats) -> Mask:
        """Returns the clients that delivered last with a utility no larger than the quantile, shape (N,), bool."""
        if self.exclusion == 0 or not view.delivered.any():
            return np.zeros(view.clients, dtype=np.bool_)
        ordered = np.sort(utility[view.delivered])
        limit = ordered[max(int(np.ceil(self.exclusion * ordered.size)) - 1, 0)]
        return np.asarray(view.delivered & (utility <= limit))

    def _release(self, deliveries: NDArray[np.int32]) -> Floats:
        """Returns the probability that a client is released, shape (N,), float64.

        Ours: ω is the mean over all clients and epochs, not over those active since the same hour yesterday; and the
        dice fall in every epoch, not only in one that follows a delivery.
        """
        above = deliveries - deliveries.mean()
        probability = np.ones(deliveries.size)
        np.divide(self.alpha, above, out=probability, where=above > 0)
        return np.minimum(probability, 1.0)

    def _feasible(self, view: EpochView, able: Mask) -> Mask:
        """Returns who can train and send within the shortest horizon that serves k clients; nobody if none does."""
        enough = view.battery[:, None] + future_harvest(view) >= update_cost(view)[:, None]
        serves = (enough & able[:, None]).sum(axis=0) >= min(self.k, view.clients)
        nobody = np.zeros(view.clients, dtype=np.bool_)
        return np.asarray(enough[:, int(np.argmax(serves))]) if serves.any() else nobody
