"""Solar harvest: a panel at a place on Earth, under clouds that come and stay, or in a typical year."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.arrays import per_client
from fallow.energy.base import EnergyModel, Harvest
from fallow.energy.clock import YEAR_SECONDS, parse_moment, parse_zone
from fallow.energy.clouds import Clouds
from fallow.energy.cloudy import Cloudy
from fallow.energy.scale import Scale
from fallow.energy.steady import Steady
from fallow.energy.sun import Orientation, Place, clear_sky
from fallow.energy.typical_year import read_year

SquareMetres = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True)
class Solar:
    """The sun on a panel: its position at a place and time, through pvlib, and clouds; or a typical year.

    Power is the irradiance on the panel's plane × area × efficiency; what heat or dirt take is part of `efficiency`.

    Attributes:
        latitude: Degrees, north positive.
        longitude: Degrees, east positive.
        altitude: Metres above the sea.
        start: When the run begins.
        timezone: The zone of `start`, where it has no offset of its own.
        area: Square metres of the panel: one number, or one for each client.
        tilt: Degrees of the panel from level.
        azimuth: Degrees from north to where the panel looks, clockwise.
        efficiency: Share of the light that becomes electricity: one number, or one for each client.
        persistence: Mean hours until the clearness is drawn anew.
        depth: How dark clouds can be: clearness is even between 1 − depth and 1.
        year: A typical year instead of a clear sky with clouds: a file of pvlib, or a path; it says where it is.

    Examples:
        >>> from fallow.energy import Scale, prepare_harvest
        >>> panel = Solar(latitude=45.41, longitude=11.88, start="2025-06-21", area=0.01, depth=0.0)
        >>> harvest = prepare_harvest(panel, seed=0, clients=1, slots_per_epoch=24, scale=Scale(3600, 1.0))
        >>> [int(slot[0]) for slot in harvest(0)][:8]
        [0, 0, 0, 15, 225, 1071, 2509, 4002]
    """

    latitude: Annotated[float, Field(ge=-90, le=90, description="degrees, north positive")] = 45.41
    longitude: Annotated[float, Field(ge=-180, le=180, description="degrees, east positive")] = 11.88
    altitude: Annotated[float, Field(ge=-500, le=9000, description="metres above the sea")] = 0.0
    start: Annotated[
        str, Field(min_length=1, description="when the run begins, as in 2025-06-21 or 2025-06-21T12:00+02:00")
    ] = "2025-01-01"
    timezone: Annotated[
        str, Field(min_length=1, description="zone of a start without offset: UTC, a name such as Europe/Rome, +01:00")
    ] = "UTC"
    area: Annotated[
        SquareMetres | tuple[SquareMetres, ...],
        Field(description="square metres of the panel; one number, or one for each client"),
    ] = 0.01
    tilt: Annotated[float, Field(ge=0, le=180, description="degrees of the panel from level")] = 30.0
    azimuth: Annotated[
        float, Field(ge=0, le=360, description="degrees from north to where the panel looks, clockwise: 180 is south")
    ] = 180.0
    efficiency: Annotated[
        Share | tuple[Share, ...],
        Field(description="share of the light that becomes electricity; one number, or one for each client"),
    ] = 0.2
    persistence: Annotated[float, Field(gt=0, description="mean hours until clouds change")] = 6.0
    depth: Annotated[
        float, Field(ge=0, le=1, description="how dark clouds can be: 0 is always clear, 1 at times quite dark")
    ] = 0.8
    year: Annotated[
        str,
        Field(
            description="typical year in place of clear sky and clouds, and of the place: 723170TYA.CSV, 703165TY.csv "
            "or 12839.tm2 of pvlib, or the path of a TMY3 (.csv), TMY2 (.tm2) or EPW (.epw) file; empty is none"
        ),
    ] = ""

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
            ConfigError: Slot or unit are not stated, `start` is no moment, or pvlib is not installed.
            TraceError: The typical year can't be read.
        """
        scale.require("The sun")
        start = parse_moment("energy.start", self.start, parse_zone("energy.timezone", self.timezone))
        orientation = Orientation(self.tilt, self.azimuth)
        if self.year:
            typical = read_year(self.year, orientation, start)
            return self._steady(scale, typical.joules, typical.mean_watts)
        sky = clear_sky(Place(self.latitude, self.longitude, self.altitude), orientation, start)

        def mean_watts() -> float:
            return float(sky.joules(np.array([0.0, YEAR_SECONDS]))[-1]) / YEAR_SECONDS

        steady = self._steady(scale, sky.joules, mean_watts)
        if not self.depth:
            return steady
        renewal = min(1.0, scale.slot_seconds / (self.persistence * 3600))
        return Cloudy(steady, Clouds(renewal, self.depth))

    def _steady(
        self, scale: Scale, joules: Callable[[NDArray[np.float64]], NDArray[np.float64]], mean: Callable[[], float]
    ) -> Steady:
        """Returns the panel without clouds as a model in units."""
        metres = np.asarray(self.area, dtype=np.float64)
        factor = metres * np.asarray(self._efficiencies(metres.size), dtype=np.float64) / scale.unit_joules

        def totals(slots: NDArray[np.int64]) -> NDArray[np.float64]:
            return joules(np.asarray(slots * scale.slot_seconds, dtype=np.float64))[:, None]

        return Steady(
            totals,
            float(factor) if factor.ndim == 0 else tuple(factor.tolist()),
            lambda: np.array([mean() * scale.slot_seconds]),
            "The panel",
        )

    def _efficiencies(self, areas: int) -> float | NDArray[np.float64]:
        """Returns the efficiency, checked to have as many numbers as the area where both have several."""
        if isinstance(self.efficiency, tuple) and areas > 1:
            return per_client("energy.efficiency", self.efficiency, areas, np.float64)
        return np.asarray(self.efficiency, dtype=np.float64)
