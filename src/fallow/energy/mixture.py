"""Groups of clients with a model each, as one model: one weather, one mean, and for each group its own chance."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fallow.energy.base import Correlated, EnergyModel, Harvest, Scaled
from fallow.energy.fractions import means_of
from fallow.energy.groups import group_seed, group_sizes, joined
from fallow.energy.harvest import settled, settled_forecast
from fallow.energy.outlook import EpochForecast, Outlook
from fallow.energy.own import prepared
from fallow.energy.scale import Scale
from fallow.errors import ConfigError


class Group(NamedTuple):
    """Clients with the same model.

    Attributes:
        model: Their harvest.
        share: How many there are, relative to the other groups.
    """

    model: EnergyModel
    share: float


@dataclass(frozen=True)
class Mixture:
    """Several groups, which follow each other in the order of their numbers.

    Attributes:
        groups: The groups.
        scale: The length of a slot and the energy of a unit, for sources in watts.
        correlation: How much of the weather clients share, in a group and across groups.
        wanted: Mean units a slot over all clients; 0 leaves it as it is.
        weather: The seed of the shared weather; None is that of the run.
    """

    groups: tuple[Group, ...]
    scale: Scale = Scale()  # noqa: RUF009 - it is frozen
    correlation: float = 0.0
    wanted: float = 0.0
    weather: int | None = None

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Harvest:
        """Returns the harvest of all groups. The arguments are those of `EnergyModel.prepare`."""
        harvests = [
            prepared(model, own_seed, size, slots_per_epoch) for model, own_seed, size in self._settled(seed, clients)
        ]
        return joined(harvests, clients, slots_per_epoch)

    def mean(self, clients: int) -> NDArray[np.float64]:
        """Returns the mean of each client, shape (N,), float64.

        Args:
            clients: N.
        """
        return self._means(clients) * self._factor(clients)

    def with_mean(self, mean: float) -> "Mixture":
        """Returns the mix with another mean over all clients; the means of the groups keep their ratios.

        Args:
            mean: Units a slot.
        """
        return replace(self, wanted=mean)

    def correlated(self, correlation: float) -> "Mixture":
        """Returns the mix with one weather for all groups; a group in which nothing is left to chance stays as it is.

        Args:
            correlation: c, from 0 to 1.

        Raises:
            ConfigError: There is no chance in any group.
        """
        if not any(isinstance(self._in_units(group.model), Correlated) for group in self.groups):
            raise ConfigError(
                f"energy.correlation = {correlation:g} is for models in which chance decides, and there is none in "
                "energy.sources, or none that can share it; set it to 0."
            )
        return replace(self, correlation=correlation)

    def with_weather(self, seed: int) -> "Mixture":
        """Returns the mix under the weather of a seed."""
        return replace(self, weather=seed)

    def prepare_forecast(self, seed: int, clients: int, slots_per_epoch: int) -> EpochForecast:
        """Returns the forecasts of all groups, each from its own model.

        The arguments are those of `Forecasting.prepare_forecast`.

        Raises:
            ConfigError: A model has no forecast.
        """
        forecasts = [
            settled_forecast(model, own_seed, size, slots_per_epoch)
            for model, own_seed, size in self._settled(seed, clients)
        ]

        def forecast(epoch: int, epochs: int) -> Outlook:
            outlooks = [own(epoch, epochs) for own in forecasts]
            units = np.concatenate([outlook.units for outlook in outlooks])
            return Outlook(units, np.concatenate([outlook.error for outlook in outlooks]))

        return forecast

    def _settled(self, seed: int, clients: int) -> Iterator[tuple[EnergyModel, int, int]]:
        """Yields the model of each group that has clients, as it is used, with its seed and how many they are."""
        factor = self._factor(clients)
        sizes = group_sizes([group.share for group in self.groups], clients)
        for number, (group, size) in enumerate(zip(self.groups, sizes, strict=True)):
            if not size:
                continue
            in_units = self._in_units(group.model)
            mean = float(means_of(in_units, size).mean()) * factor if self.wanted else 0.0
            correlation = self.correlation if isinstance(in_units, Correlated) else 0.0
            weather = seed if self.weather is None else self.weather
            model = settled(group.model, scale=self.scale, correlation=correlation, mean=mean, weather=weather)
            yield model, group_seed(seed, number), size

    def _in_units(self, model: EnergyModel) -> EnergyModel:
        return model.at_scale(self.scale) if isinstance(model, Scaled) else model

    def _means(self, clients: int) -> NDArray[np.float64]:
        """Returns the mean of each client before the mix is scaled, shape (N,), float64."""
        sizes = group_sizes([group.share for group in self.groups], clients)
        of_groups = zip(self.groups, sizes, strict=True)
        return np.concatenate([means_of(self._in_units(group.model), size) for group, size in of_groups if size])

    def _factor(self, clients: int) -> float:
        if not self.wanted:
            return 1.0
        mean = float(self._means(clients).mean())
        if not mean > 0:
            raise ConfigError(
                f"energy.mean = {self.wanted:g} can't be had of a mix in which nobody harvests anything; remove it, or "
                "change energy.sources."
            )
        return self.wanted / mean
