"""Daylight: days and seasons of a latitude by a formula, and clouds; it needs no package beside Fallow's own."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.energy.base import EnergyModel, Harvest
from fallow.energy.clouds import Clouds
from fallow.energy.cloudy import Cloudy
from fallow.energy.scale import Scale
from fallow.energy.steady import Steady

DAY_SECONDS = 86_400
YEAR_DAYS = 365
TILT = np.radians(23.45)
"""Of the Earth's axis, as in Cooper's formula of the declination."""

Watts = Annotated[float, Field(ge=0)]


@dataclass(frozen=True)
class Daylight:
    """The sun on a level panel, by the latitude and the day of the year, and clouds as in `solar`.

    Power is `watts` times the sine of the sun's height. The sun stands highest in the middle of a day, the declination
    is that of Cooper (1969) and holds for a day, and a year has 365. `solar` has a real sky instead, and needs pvlib.

    Attributes:
        latitude: Degrees, north positive.
        day: The day of the year on which the run begins, at midnight.
        watts: Of the panel under a sun overhead, without clouds: one number, or one for each client.
        persistence: Mean hours until the clearness is drawn anew.
        depth: How dark clouds can be: clearness is even between 1 − depth and 1.

    Examples:
        >>> from fallow.energy import Scale, prepare_harvest
        >>> equinox = Daylight(latitude=0.0, day=81, depth=0.0)
        >>> harvest = prepare_harvest(equinox, seed=0, clients=1, slots_per_epoch=8, scale=Scale(10_800, 1.0))
        >>> [int(slot[0]) for slot in harvest(0)]
        [0, 0, 4027, 9723, 9724, 4027, 0, 0]
    """

    latitude: Annotated[float, Field(ge=-90, le=90, description="degrees, north positive")] = 45.41
    day: Annotated[int, Field(ge=1, le=YEAR_DAYS, description="day of the year on which the run begins")] = 1
    watts: Annotated[
        Watts | tuple[Watts, ...],
        Field(description="of the panel under a clear sun overhead; one number, or one for each client"),
    ] = 1.0
    persistence: Annotated[float, Field(gt=0, description="mean hours until clouds change")] = 6.0
    depth: Annotated[
        float, Field(ge=0, le=1, description="how dark clouds can be: 0 is always clear, 1 at times quite dark")
    ] = 0.8

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Harvest:
        """Raises `ConfigError`, because watts are no units: `at_scale` returns the model that can be prepared.

        Args:
            seed: The seed of the run.
            clients: N.
            slots_per_epoch: S.
        """
        return self.at_scale(Scale()).prepare(seed, clients, slots_per_epoch)

    def at_scale(self, scale: Scale) -> EnergyModel:
        """Returns the panel as a model in units.

        Args:
            scale: Of the run.

        Raises:
            ConfigError: Slot or unit are not stated.
        """
        scale.require("Daylight")
        factor = np.asarray(self.watts, dtype=np.float64) / scale.unit_joules

        def totals(slots: NDArray[np.int64]) -> NDArray[np.float64]:
            return self._overhead_seconds(np.asarray(slots * scale.slot_seconds, dtype=np.float64))[:, None]

        steady = Steady(
            totals,
            float(factor) if factor.ndim == 0 else tuple(factor.tolist()),
            lambda: np.array([self._days.mean() / DAY_SECONDS * scale.slot_seconds]),
            "energy.watts",
        )
        if not self.depth:
            return steady
        return Cloudy(steady, Clouds(min(1.0, scale.slot_seconds / (self.persistence * 3600)), self.depth))

    @property
    def _days(self) -> NDArray[np.float64]:
        """Returns what each day of a year brings, from the first of the run, shape (365,), float64."""
        height, swing, dusk = self._arc(np.arange(YEAR_DAYS))
        return _light(height, swing, dusk, dusk)

    def _overhead_seconds(self, seconds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns the light since the run began, in seconds of a sun overhead; the same shape, float64.

        Args:
            seconds: Since the run began, any shape, float64.
        """
        days, rest = np.divmod(seconds, DAY_SECONDS)
        years, in_year = np.divmod(days.astype(np.int64), YEAR_DAYS)
        before = np.concatenate([[0.0], np.cumsum(self._days)])
        height, swing, dusk = self._arc(in_year)
        angle = 2 * np.pi * rest / DAY_SECONDS - np.pi
        today = _light(height, swing, dusk, np.clip(angle, -dusk, dusk))
        return np.asarray(years * before[-1] + before[in_year] + today, dtype=np.float64)

    def _arc(self, days: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Returns a and b of the sine of the sun's height, a + b·cos(hour angle), and the hour angle of dusk.

        Args:
            days: Since the run began, shape (n,), int64.
        """
        declination = TILT * np.sin(2 * np.pi * (284 + self.day + days) / YEAR_DAYS)
        latitude = np.radians(self.latitude)
        height = np.sin(latitude) * np.sin(declination)
        swing = np.maximum(np.cos(latitude) * np.cos(declination), 1e-12)  # at a pole the sun circles at one height
        return height, swing, np.arccos(np.clip(-height / swing, -1.0, 1.0))


def _light(
    height: NDArray[np.float64], swing: NDArray[np.float64], dusk: NDArray[np.float64], until: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Returns the light of a day from dawn until an hour angle, in seconds of a sun overhead."""
    angles = height * (until + dusk) + swing * (np.sin(until) + np.sin(dusk))
    return np.asarray(angles * DAY_SECONDS / (2 * np.pi), dtype=np.float64)
