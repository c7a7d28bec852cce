"""The sun above a place, and what a clear sky sends onto a panel there, through pvlib (the extra ``fallow[solar]``)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.energy.clock import DAY_SECONDS
from fallow.errors import ConfigError

STEP_SECONDS = 300.0
"""Seconds from one position of the sun to the next; between the two, a panel's power is taken to be linear."""

BLOCK_STEPS = 16 * 288
"""Steps that are calculated at once, of 16 days: enough to spread the cost of a call."""

LAST_YEAR = 2250
"""The last year for which a clear sky is calculated; the position of the sun is known well beyond any run."""


def pvlib() -> Any:
    """Returns pvlib, which takes a second to import.

    Raises:
        ConfigError: It is not installed.
    """
    try:
        import pvlib as library
    except ImportError as error:
        raise ConfigError(
            "The energy model 'solar' needs pvlib, which is not installed; install the extra: pip install "
            "'fallow[solar]'."
        ) from error
    return library


@dataclass(frozen=True)
class Place:
    """Where a panel stands.

    Attributes:
        latitude: Degrees, north positive.
        longitude: Degrees, east positive.
        altitude: Metres above the sea.
    """

    latitude: float
    longitude: float
    altitude: float = 0.0


@dataclass(frozen=True)
class Orientation:
    """How a panel stands.

    Attributes:
        tilt: Degrees from level.
        azimuth: Degrees from north, clockwise: 180 is south.
    """

    tilt: float
    azimuth: float


def position(place: Place, times: NDArray[np.datetime64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns the sun's elevation above the horizon and its azimuth, in degrees, each of the shape of `times`.

    The elevation is the one that is seen, with the refraction of the air.

    Args:
        place: Where it is seen from.
        times: Moments in UTC, shape (K,), datetime64.
    """
    import pandas as pd  # slow to import, and only the sun and files of watts need it

    index = pd.DatetimeIndex(times).tz_localize("UTC")
    found = pvlib().solarposition.get_solarposition(index, place.latitude, place.longitude, place.altitude)
    return found["apparent_elevation"].to_numpy(dtype=np.float64), found["azimuth"].to_numpy(dtype=np.float64)


def on_plane(
    place: Place,
    orientation: Orientation,
    times: NDArray[np.datetime64],
    irradiance: Callable[[NDArray[np.float64], NDArray[np.int64], Any], dict[str, NDArray[np.float64]]],
) -> NDArray[np.float64]:
    """Returns the watts a square metre that fall onto a panel, direct, from the sky and from the ground, shape (K,).

    The sky's light is that of Hay and Davies, and the ground sends back a quarter of what falls on it.

    Args:
        place: Where the panel stands.
        orientation: How it stands.
        times: Moments in UTC, shape (K,), datetime64.
        irradiance: Returns the "ghi", "dni" and "dhi" of the moments, given the sun's apparent zenith in degrees, the
            days of the year and the radiation above the air.
    """
    library = pvlib()
    elevation, azimuth = position(place, times)
    zenith = 90.0 - elevation
    days = (times.astype("M8[D]") - times.astype("M8[Y]").astype("M8[D]")).astype(np.int64) + 1
    above = library.irradiance.get_extra_radiation(days)
    sky = irradiance(zenith, days, above)
    total = library.irradiance.get_total_irradiance(
        orientation.tilt,
        orientation.azimuth,
        zenith,
        azimuth,
        sky["dni"],
        sky["ghi"],
        sky["dhi"],
        dni_extra=above,
        model="haydavies",
    )["poa_global"]
    return np.maximum(np.nan_to_num(np.asarray(total, dtype=np.float64)), 0.0)


@dataclass(frozen=True)
class ClearSky:
    """A sky without clouds (Ineichen and Perez, with the turbidity of the place and month from pvlib's table).

    Attributes:
        place: Where the panel stands.
        orientation: How it stands.
        start: When the run begins, in UTC.
    """

    place: Place
    orientation: Orientation
    start: datetime

    @cached_property
    def _blocks(self) -> dict[int, NDArray[np.float64]]:
        """The blocks that were calculated last: watts a square metre at each step, shape (BLOCK_STEPS + 1,)."""
        return {}

    @cached_property
    def _totals(self) -> list[float]:
        """Joules a square metre from the start until the beginning of each block that is known."""
        return [0.0]

    def watts(self, times: NDArray[np.datetime64]) -> NDArray[np.float64]:
        """Returns the watts a square metre on the panel, shape (K,).

        Args:
            times: Moments in UTC, shape (K,), datetime64.
        """
        return on_plane(self.place, self.orientation, times, self._irradiance)

    def joules(self, seconds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns the joules a square metre from the start until some moments, shape (K,), never falling.

        Args:
            seconds: From the start, shape (K,), in order.

        Raises:
            ConfigError: The last moment is beyond the year 2250.
        """
        if self.start.year + seconds[-1] / (365.25 * DAY_SECONDS) > LAST_YEAR:
            raise ConfigError(
                f"The run goes on beyond the year {LAST_YEAR}, the last one of energy.model = 'solar'; begin earlier, "
                "or lower slot_seconds."
            )
        steps = seconds / STEP_SECONDS
        blocks = (steps // BLOCK_STEPS).astype(np.int64)
        result = np.empty(seconds.size)
        for block in range(int(blocks[0]), int(blocks[-1]) + 1):
            within = blocks == block
            if not within.any() and block < len(self._totals) - 1:
                continue
            before = self._total_before(block)
            power = self._power(block)
            energy = np.concatenate([[0.0], np.cumsum((power[1:] + power[:-1]) * (STEP_SECONDS / 2))])
            place = steps[within] - block * float(BLOCK_STEPS)
            step = np.minimum(place.astype(np.int64), BLOCK_STEPS - 1)
            share = place - step
            part = share * STEP_SECONDS * (power[step] + share * (power[step + 1] - power[step]) / 2)
            # The limit keeps rounding from letting the total fall from one step to the next.
            result[within] = before + np.minimum(energy[step] + part, energy[step + 1])
            if len(self._totals) == block + 1:
                self._totals.append(before + float(energy[-1]))
        return result

    def _total_before(self, block: int) -> float:
        """Returns the joules until a block begins; calculates the blocks before it that are not known yet."""
        while len(self._totals) <= block:
            power = self._power(len(self._totals) - 1)
            self._totals.append(self._totals[-1] + float(np.cumsum((power[1:] + power[:-1]) * (STEP_SECONDS / 2))[-1]))
        return self._totals[block]

    def _power(self, block: int) -> NDArray[np.float64]:
        if block not in self._blocks:
            first = block * BLOCK_STEPS * STEP_SECONDS
            seconds = first + np.arange(BLOCK_STEPS + 1) * STEP_SECONDS
            start = np.datetime64(self.start.replace(tzinfo=None), "us")
            while len(self._blocks) >= 32:  # a year's; more would only cost memory
                self._blocks.pop(next(iter(self._blocks)))
            self._blocks[block] = self.watts(start + (seconds * 1e6).astype("m8[us]"))
        return self._blocks[block]

    @cached_property
    def _turbidity(self) -> NDArray[np.float64]:
        """Linke's turbidity of each month, shape (12,)."""
        import pandas as pd

        months = pd.date_range("2025-01-15", periods=12, freq=pd.DateOffset(months=1), tz="UTC")
        latitude, longitude = self.place.latitude, self.place.longitude
        found = pvlib().clearsky.lookup_linke_turbidity(months, latitude, longitude, interp_turbidity=False)
        return np.asarray(found.to_numpy(), dtype=np.float64)

    def _irradiance(
        self, zenith: NDArray[np.float64], days: NDArray[np.int64], above: Any
    ) -> dict[str, NDArray[np.float64]]:
        library = pvlib()
        pressure = library.atmosphere.alt2pres(self.place.altitude)
        air = library.atmosphere.get_absolute_airmass(library.atmosphere.get_relative_airmass(zenith), pressure)
        middles = np.arange(12) * 365.25 / 12 + 15.0  # between the middles of two months, the turbidity is linear
        turbidity = np.interp(days, middles, self._turbidity, period=365.25)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # of a sun below the horizon
            sky = library.clearsky.ineichen(zenith, air, turbidity, self.place.altitude, above)
        return {name: np.asarray(sky[name], dtype=np.float64) for name in ("ghi", "dni", "dhi")}


@lru_cache(maxsize=8)
def clear_sky(place: Place, orientation: Orientation, start: datetime) -> ClearSky:
    """Returns a clear sky, the same object for the same panel, so that the runs of a sweep calculate it once.

    Args:
        place: Where the panel stands.
        orientation: How it stands.
        start: When the run begins, in UTC.
    """
    return ClearSky(place, orientation, start)
