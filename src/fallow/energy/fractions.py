"""Real units as whole ones: fractions are carried, so that no energy is lost or made. Any model at another mean."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fallow.energy.base import Averaged, EnergyModel, Harvest, Units
from fallow.energy.outlook import EpochForecast, Forecasting, Outlook
from fallow.energy.own import prepared, prepared_forecast
from fallow.errors import ConfigError, EnergyError
from fallow.rng import Purpose, stream


def whole_units(real: NDArray[np.float64], offset: NDArray[np.float64]) -> NDArray[np.int64]:
    """Returns whole units whose sum up to any slot is that of the real ones, and the offset, rounded down.

    With an offset that is uniform on [0, 1) each slot has the right mean, and every sum is wrong by less than a unit.

    Args:
        real: Units a slot, 0 or more, shape (S, N), float64.
        offset: What each client has already, 0 or more, shape (N,), float64.

    Returns:
        Shape (S, N), int64.

    Examples:
        >>> whole_units(np.full((5, 2), 0.4), offset=np.array([0.0, 0.7])).T.tolist()
        [[0, 0, 1, 0, 1], [1, 0, 0, 1, 0]]
    """
    sums = np.floor(np.cumsum(np.vstack([offset, real]), axis=0))
    return np.diff(sums, axis=0).astype(np.int64)


def whole_rows(real: Iterable[NDArray[np.float64]], offset: NDArray[np.float64]) -> Iterator[NDArray[np.int64]]:
    """Yields the rows of `whole_units`, each of shape (N,), int64, without a table of all slots.

    Args:
        real: Units of one slot after the other, each of shape (N,), float64.
        offset: What each client has already, from 0 to 1, shape (N,), float64.

    Examples:
        >>> [row.tolist() for row in whole_rows([np.array([0.5]), np.array([1.75])], offset=np.zeros(1))]
        [[0], [2]]
    """
    carried = offset
    for units in real:
        carried = carried + units
        whole = np.floor(carried)
        carried -= whole
        yield whole.astype(np.int64)


@dataclass(frozen=True)
class Rescaling:
    """A model times a factor, fractions carried within each epoch: the way to another mean that any model has.

    Attributes:
        of: The model. It knows its mean.
        wanted: Mean units a slot, over all clients and the whole time.

    Examples:
        >>> from fallow.energy import Bernoulli
        >>> harvest = Rescaling(Bernoulli(p=1.0), wanted=2.5).prepare(seed=0, clients=3, slots_per_epoch=4)
        >>> np.sum(harvest(0), axis=0).tolist()
        [10, 10, 10]
    """

    of: EnergyModel
    wanted: float

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Harvest:
        """Returns the harvest. Where an epoch begins with an offset that chance chooses, the mean is right everywhere.

        Args:
            seed: The seed of the run.
            clients: N.
            slots_per_epoch: S.

        Raises:
            ConfigError: The model does not know its mean, or it is 0.
        """
        factor = self._factor(clients)
        harvest = prepared(self.of, seed, clients, slots_per_epoch)

        def rescaled(epoch: int) -> Iterable[Units]:
            offset = stream(seed, Purpose.FRACTIONS, epoch).random(clients)
            units = harvest(epoch)
            if isinstance(units, np.ndarray):
                return whole_units(units * factor, offset)
            return whole_rows((np.asarray(row) * factor for row in units), offset)

        return rescaled

    def mean(self, clients: int) -> NDArray[np.float64]:
        """Returns the mean of each client, shape (N,), float64.

        Args:
            clients: N.
        """
        return means_of(self.of, clients) * self._factor(clients)

    def prepare_forecast(self, seed: int, clients: int, slots_per_epoch: int) -> EpochForecast:
        """Returns the forecast of the model times the factor. Its error grows by half a unit's square at most.

        Args:
            seed: The seed of the run.
            clients: N.
            slots_per_epoch: S.

        Raises:
            ConfigError: The model has no forecast.
        """
        if not isinstance(self.of, Forecasting):
            raise ConfigError(
                f"{type(self.of).__name__} has no forecast; choose another energy model, or a policy that needs none."
            )
        factor = self._factor(clients)
        forecast = prepared_forecast(self.of, seed, clients, slots_per_epoch)

        def rescaled(epoch: int, epochs: int) -> Outlook:
            units, error = forecast(epoch, epochs)
            return Outlook(units * factor, np.hypot(error * factor, 0.5))

        return rescaled

    def _factor(self, clients: int) -> float:
        mean = float(means_of(self.of, clients).mean())
        if not mean > 0:
            raise ConfigError(
                f"energy.mean = {self.wanted:g} can't be had of {type(self.of).__name__}, whose mean is {mean:g}; "
                "remove it, or choose another energy model."
            )
        return self.wanted / mean


def means_of(model: EnergyModel, clients: int) -> NDArray[np.float64]:
    """Returns the mean units a slot of each client, checked, shape (N,), float64.

    Args:
        model: Any energy model.
        clients: N.

    Raises:
        ConfigError: The model does not know its mean.
        EnergyError: What it says is no mean.

    Examples:
        >>> from fallow.energy import Bernoulli
        >>> means_of(Bernoulli(p=0.25), clients=2).tolist()
        [0.25, 0.25]
    """
    name = type(model).__name__
    if not isinstance(model, Averaged):
        raise ConfigError(
            f"The mean of {name} is not known, because it has no method 'mean'; remove energy.mean, or add the method."
        )
    means = np.asarray(model.mean(clients), dtype=np.float64)
    if means.shape != (clients,) or not (np.isfinite(means) & (means >= 0)).all():
        raise EnergyError(
            f"{name} gave means of shape {means.shape}; it must give {clients} finite numbers, one for each client, "
            "none of them negative."
        )
    return means
