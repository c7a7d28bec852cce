"""What is gathered for a policy beyond batteries: what it declares in its `needs`, and nothing else."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fallow.arrays import frozen_copy
from fallow.energy import Harvest
from fallow.experiment import Experiment
from fallow.policies import Known, Mask, Needs
from fallow.simulation.events import Event
from fallow.simulation.forecast import Forecast
from fallow.simulation.participation import Participation

if TYPE_CHECKING:  # PyTorch takes seconds to load
    from fallow.learning.learner import Learner


class Knowledge:
    """Gathers what a policy declared. In an energy-only run there are no losses, labels and features: they are NaN.

    Attributes:
        needs: What the policy declares.
        participation: Who took part and delivered; None where the policy does not need it.
    """

    def __init__(self, needs: Needs, experiment: Experiment, harvest: Harvest) -> None:
        self.needs = needs
        self.participation = Participation.first(experiment.clients) if needs.participation else None
        self._slots_per_epoch = experiment.slots_per_epoch
        self._mean_harvest: NDArray[np.float64] | None = None
        self._forecast = None
        self._outlook = None
        if needs.forecast_epochs and needs.forecast_by == "model":
            self._outlook = experiment.build_forecast()
        elif needs.forecast_epochs:
            self._forecast = Forecast(
                harvest,
                experiment.seed,
                experiment.clients,
                experiment.slots_per_epoch,
                needs.forecast_epochs,
                needs.forecast_error,
            )

    def before(self, epoch: int, harvested: NDArray[np.int64]) -> None:
        """Notes what each client harvested before an epoch.

        Args:
            epoch: t.
            harvested: Units of each client up to the end of the epoch before, shape (N,), int64.
        """
        if self.needs.mean_harvest:
            self._mean_harvest = harvested / max(1, epoch * self._slots_per_epoch)

    def gather(self, epoch: int, paid: Mask, learner: "Learner | None") -> Known:
        """Returns what the policy declared, as read-only arrays.

        Args:
            epoch: t.
            paid: Who paid for its probe, shape (N,), bool. The loss of a probe that was not paid for is not known.
            learner: Who learns; None in an energy-only run.
        """
        needs, clients = self.needs, paid.size
        unknown = np.full(clients, np.nan, dtype=np.float32)
        found: dict[str, NDArray[np.generic]] = {}
        if needs.probe_loss:
            losses = learner.probe_losses(epoch) if learner else unknown
            found["probe_loss"] = np.where(paid, losses, np.float32(np.nan))
        if needs.training_loss:
            found["training_loss"] = learner.losses if learner else unknown
        if needs.data_size:
            found["data_size"] = learner.data_sizes if learner else np.ones(clients, dtype=np.int64)
        if self._mean_harvest is not None:
            found["mean_harvest"] = self._mean_harvest
        if self._forecast is not None:
            found["forecast"] = self._forecast.at(epoch)
        if self._outlook is not None:
            found["forecast"], found["forecast_error"] = self._outlook(epoch, needs.forecast_epochs)
        if needs.label_mix:
            found["label_mix"] = learner.task.label_mix if learner else np.full((clients, 1), np.nan)
        if needs.moments:
            found["moments"] = learner.moments if learner else unknown[:, None]
        if self.participation:
            found |= vars(self.participation)
        known: dict[str, NDArray[np.generic]] = {name: frozen_copy(array) for name, array in found.items()}
        return Known(**known)  # type: ignore[arg-type]

    def after(self, epoch: int, selected: Mask, delivered: Mask, events: Iterable[Event]) -> None:
        """Notes who took part in an epoch.

        Args:
            epoch: t.
            selected: Who was selected, shape (N,), bool.
            delivered: Whose update went into the model, shape (N,), bool.
            events: What happened in the epoch.
        """
        if self.participation:
            self.participation = self.participation.after(epoch, selected, delivered, events)
