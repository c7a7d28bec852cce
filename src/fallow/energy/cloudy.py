"""The units of a panel under clouds, and what is to be expected of it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fallow.arrays import per_client
from fallow.energy.base import Harvest, Units
from fallow.energy.clouds import Clouds
from fallow.energy.fractions import whole_rows
from fallow.energy.outlook import EpochForecast, Outlook, window_slots
from fallow.energy.steady import Steady
from fallow.rng import Purpose, stream

WHOLE_UNITS = 1 / 6
"""The mean variance of a sum in whole units that begins with an even fraction: f(1 − f) over all fractions f."""


@dataclass(frozen=True)
class Cloudy:
    """The units of a panel under clouds.

    What falls onto a panel in a slot is known, and the share of it that clouds let through is drawn. Fractions of a
    unit are carried within an epoch; each epoch begins with a fraction that is drawn evenly, so that nothing is lost
    or made on the average, and any epoch can be asked for alone.

    Attributes:
        clear: The panel without clouds.
        clouds: The clouds above it.
    """

    clear: Steady
    clouds: Clouds

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Harvest:
        """Returns the harvest.

        Args:
            seed: The seed of the run.
            clients: N.
            slots_per_epoch: S.

        Raises:
            ConfigError: A setting has not one number for each client.
        """
        factor = np.asarray(self.clear.units_per_joule, dtype=np.float64)
        if factor.ndim:
            per_client("energy.area", factor, clients, np.float64)
        clearness = self.clouds.prepare(seed, clients, slots_per_epoch)

        def harvest(epoch: int) -> Iterator[Units]:
            edges = np.arange(epoch * slots_per_epoch, (epoch + 1) * slots_per_epoch + 1, dtype=np.int64)
            joules = np.diff(self.clear.totals(edges)[:, 0])
            real = (sky * (factor * in_slot) for sky, in_slot in zip(clearness(epoch), joules, strict=True))
            return whole_rows(real, stream(seed, Purpose.FRACTIONS, epoch).random(clients))

        return harvest

    def prepare_forecast(self, seed: int, clients: int, slots_per_epoch: int) -> EpochForecast:
        """Returns the forecast: the known sun times the clearness to expect, given that of an epoch's first slot.

        Args:
            seed: The seed of the run.
            clients: N.
            slots_per_epoch: S.

        Raises:
            ConfigError: A setting has not one number for each client.
        """
        factor = per_client("energy.area", self.clear.units_per_joule, clients, np.float64)
        clearness = self.clouds.prepare(seed, clients, slots_per_epoch)

        def forecast(epoch: int, epochs: int) -> Outlook:
            first = epoch * slots_per_epoch
            edges = np.arange(first + 1, first + epochs * slots_per_epoch + 1, dtype=np.int64)
            joules = np.diff(self.clear.totals(edges)[:, 0])
            sky = clearness(epoch)
            now = next(sky).copy()
            for _ in sky:  # at its end it remembers where the next epoch begins
                pass
            return cloud_outlook(self.clouds, now, factor, joules, window_slots(epochs, slots_per_epoch))

        return forecast

    def mean(self, clients: int) -> NDArray[np.float64]:
        """Returns the mean units a slot of each client over a year, shape (N,), float64.

        Args:
            clients: N.
        """
        return self.clear.mean(clients) * self.clouds.mean

    def with_mean(self, mean: float) -> "Cloudy":
        """Returns the same weather on panels of another size.

        Args:
            mean: Units a slot, over all clients and a year.

        Raises:
            ConfigError: The panel gives nothing.
        """
        return replace(self, clear=self.clear.with_mean(mean / self.clouds.mean))

    def correlated(self, correlation: float) -> "Cloudy":
        """Returns the model with shared clouds: two clients' clearness has the given correlation in every slot.

        Args:
            correlation: From 0 to 1.
        """
        return replace(self, clouds=replace(self.clouds, correlation=correlation))

    def with_weather(self, seed: int) -> "Cloudy":
        """Returns the model with its shared clouds from the streams of another seed; its own draws stay.

        Args:
            seed: Whose weather it is: groups with the same one have the same weather.
        """
        return replace(self, clouds=replace(self.clouds, weather=seed))


def cloud_outlook(
    clouds: Clouds,
    now: NDArray[np.float64],
    units_per_joule: NDArray[np.float64],
    joules: NDArray[np.float64],
    windows: NDArray[np.int64],
) -> Outlook:
    """Returns what is expected under clouds, and its error, in closed form.

    With ρ = 1 − r and d the clearness now less its mean m, the clearness u slots later has the mean m + ρᵘd and the
    variance ρᵘ(1 − ρᵘ)d² + (1 − ρᵘ)σ²; that of the slots u ≤ v has the covariance ρ^(v−u) times the variance at u.

    Args:
        clouds: Their law.
        now: The clearness of each client, shape (N,).
        units_per_joule: Of each client, shape (N,).
        joules: Of each slot that follows, under a clear sky, shape (slots,).
        windows: How many of these slots each column covers, shape (H,).

    Examples:
        >>> clouds = Clouds(renewal=0.5, depth=1.0)
        >>> found = cloud_outlook(clouds, np.array([1.0]), np.ones(1), np.array([8.0, 8.0]), np.array([2]))
        >>> found.units.tolist()  # 8 · (0.75 + 0.625)
        [[11.0]]
    """
    keep, mean, variance = 1 - clouds.renewal, clouds.mean, clouds.depth**2 / 12
    away = now - mean
    units, error = np.zeros((2, now.size, windows.size))
    first = 0
    for column, slots in enumerate(windows.tolist()):
        part = joules[first : first + slots]
        stays = keep ** (first + 1.0 + np.arange(slots))
        weight = np.zeros(slots)
        later = 0.0  # Σ ρ^(v−u) of the joules of the window's slots v after u
        for slot in range(slots - 1, -1, -1):
            weight[slot] = part[slot] * (part[slot] + 2 * later)
            later = keep * (part[slot] + later)
        units[:, column] = units_per_joule * (mean * part.sum() + away * (stays * part).sum())
        spread = away**2 * (weight * stays * (1 - stays)).sum() + variance * (weight * (1 - stays)).sum()
        error[:, column] = np.sqrt(units_per_joule**2 * spread + WHOLE_UNITS * (units_per_joule * part.sum() > 0))
        first += slots
    return Outlook(units, error)
