"""A typical year of weather: pvlib's own files by name, or the user's, as what falls onto a panel."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.energy.sun import Orientation, Place, on_plane, pvlib
from fallow.errors import TraceError

PVLIB_YEARS = {"723170TYA.CSV": "Greensboro", "703165TY.csv": "Sand Point", "12839.tm2": "Miami"}
"""The typical years that come with pvlib, and where they were measured."""

HOURS = 8760
LEAP_DAY_HOUR = (31 + 28) * 24
"""The hour at which 29 February begins in a leap year; it is 28 February again."""


@dataclass(frozen=True)
class TypicalYear:
    """What falls onto a panel in each hour of a typical year, which is every year of the run.

    A leap year has 28 February twice. Within an hour the power is constant, so that the year's energy is exactly that
    of the file.

    Attributes:
        watts: Watts a square metre of each hour, shape (8760,), in the station's standard time.
        place: Where the station stood.
        start: When the run begins, in the station's standard time, without a zone.
    """

    watts: NDArray[np.float64]
    place: Place
    start: datetime

    def joules(self, seconds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns the joules a square metre from the start until some moments, shape (K,), never falling.

        Args:
            seconds: From the start, shape (K,).
        """
        start = np.datetime64(self.start, "us")
        first = start.astype("M8[Y]")
        return self._since_new_year(first, start, seconds) - self._since_new_year(first, start, np.zeros(1))

    def mean_watts(self) -> float:
        """Returns the mean watts a square metre over the year."""
        return float(self.watts.mean())

    def _since_new_year(
        self, first: np.datetime64, start: np.datetime64, seconds: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Returns the joules a square metre since the beginning of the year in which the run begins."""
        whole = np.floor(seconds)
        moments = start + whole.astype("m8[s]")
        year = moments.astype("M8[Y]")
        within = (moments - year.astype("M8[us]")) / np.timedelta64(1, "s") + (seconds - whole)
        leap = is_leap(year)
        normal, long = cumulated(self.watts), cumulated(with_leap_day(self.watts))
        years = np.arange(first, year.max() + 1)
        before = np.concatenate([[0.0], np.cumsum(np.where(is_leap(years), long[-1], normal[-1]))])
        hour = np.minimum((within / 3600).astype(np.int64), np.where(leap, HOURS + 24, HOURS) - 1)
        table = np.stack([np.pad(normal, (0, 24), mode="edge"), long])
        at_hour, at_next = table[leap.astype(np.int64), hour], table[leap.astype(np.int64), hour + 1]
        part = (within / 3600 - hour) * (at_next - at_hour)
        return np.asarray(before[(year - first).astype(np.int64)] + np.minimum(at_hour + part, at_next))


def is_leap(years: NDArray[np.datetime64]) -> NDArray[np.bool_]:
    """Returns whether each year has a 29 February.

    Args:
        years: Shape (K,), datetime64[Y].
    """
    days = (years + 1).astype("M8[D]") - years.astype("M8[D]")
    return np.asarray(days == np.timedelta64(366, "D"))


def with_leap_day(watts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the hours of a leap year, in which 28 February comes twice, shape (8784,)."""
    return np.insert(watts, LEAP_DAY_HOUR, watts[LEAP_DAY_HOUR - 24 : LEAP_DAY_HOUR])


def cumulated(watts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the joules until the beginning of each hour, and until the end of the last."""
    return np.concatenate([[0.0], np.cumsum(watts * 3600.0)])


def read_year(name: str, orientation: Orientation, start: datetime) -> TypicalYear:
    """Returns the typical year of a file as what falls onto a panel.

    Args:
        name: One of `PVLIB_YEARS`, or the path of a file: TMY3 (.csv), TMY2 (.tm2) or EPW (.epw).
        orientation: How the panel stands.
        start: When the run begins, in UTC.

    Raises:
        TraceError: The file can't be read, or has not 8760 hours with their irradiance.
    """
    data, station = _read(name)
    columns = {column.lower(): column for column in data.columns}
    missing = [column for column in ("ghi", "dni", "dhi") if column not in columns]
    if missing or len(data) != HOURS:
        what = f"no column {', '.join(missing)}" if missing else f"{len(data)} hours"
        raise TraceError(f"{name} has {what}; a typical year has {HOURS} hours with ghi, dni and dhi.")
    sky = {key: data[columns[key]].to_numpy(dtype=np.float64) for key in ("ghi", "dni", "dhi")}
    faults = np.flatnonzero(~np.all([np.isfinite(values) & (values >= 0) for values in sky.values()], axis=0))
    if faults.size:
        raise TraceError(f"{name}, hour {faults[0] + 1}: the irradiance is missing or negative; correct the file.")
    place = Place(float(station["latitude"]), float(station["longitude"]), float(station["altitude"]))
    shift = np.timedelta64(round(float(station["TZ"]) * 3600), "s")
    # The values are means over an hour, for which the sun stands where it does in the middle; 2025 has no leap day.
    middles = np.datetime64("2025-01-01T00:30", "us") + np.arange(HOURS).astype("m8[h]") - shift
    watts = on_plane(place, orientation, middles, lambda *_: sky)
    local = np.datetime64(start.replace(tzinfo=None), "us") + shift
    return TypicalYear(watts, place, local.item())


def _read(name: str) -> tuple[Any, dict[str, Any]]:
    library = pvlib()
    path = Path(library.__file__).parent / "data" / name if name in PVLIB_YEARS else Path(name)
    reader = {".csv": library.iotools.read_tmy3, ".tm2": library.iotools.read_tmy2, ".epw": library.iotools.read_epw}
    if path.suffix.lower() not in reader:
        raise TraceError(
            f"The typical year '{name}' must be a TMY3 file (.csv), a TMY2 file (.tm2), an EPW file (.epw) or one that "
            f"comes with pvlib: {', '.join(f'{file} ({city})' for file, city in PVLIB_YEARS.items())}."
        )
    if not path.is_file():
        raise TraceError(
            f"There is no typical year '{name}'; give the path of a file, or one that comes with pvlib: "
            f"{', '.join(f'{file} ({city})' for file, city in PVLIB_YEARS.items())}."
        )
    try:
        data, station = reader[path.suffix.lower()](path)
    except Exception as error:  # readers of foreign formats raise whatever a wrong file leads to
        raise TraceError(f"The typical year '{name}' can't be read as a {path.suffix} file of its kind.") from error
    return data, station
