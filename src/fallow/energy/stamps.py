"""Time stamps of a file as moments in order: offsets, time zones, and the hours in which a clock is changed."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from fallow.errors import TraceError

OFFSET = r"[T ]\d{2}.*([Zz]|[+-]\d{2}(:?\d{2})?)$"
"""A time of day that ends in an offset from UTC."""


@dataclass(frozen=True, eq=False)
class Stamps:
    """Moments in order.

    Attributes:
        microseconds: Since 1970 in UTC, shape (K,), int64.
        clock_changes: How often the clock was put forward or back.
        repeated: Stamps in an hour that the clock shows a second time.
        missing: Stamps in an hour that the clock leaves out.
    """

    microseconds: NDArray[np.int64]
    clock_changes: int = 0
    repeated: int = 0
    missing: int = 0


def parse_stamps(path: Path, column: Any, first_line: int, zone: tzinfo) -> Stamps:
    """Returns the moments that a column of text means.

    A text is a date and a time as in ISO 8601, with an offset or in `zone`; or a number of seconds since 1970.

    Args:
        path: The file, for error sentences.
        column: An Arrow column of text.
        first_line: The line of its first row.
        zone: Of stamps without offset.

    Raises:
        TraceError: A text is no moment, or is not after the one before it; the error names the line.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column = pc.utf8_trim_whitespace(column)
    try:
        found = Stamps((pc.cast(column, pa.float64()).to_numpy() * 1e6).round().astype(np.int64))
    except pa.ArrowInvalid:
        found = _parse_texts(path, column, first_line, zone)
    back = np.flatnonzero(np.diff(found.microseconds) <= 0)
    if back.size:
        row = int(back[0]) + 1
        before, text = column[row - 1].as_py(), column[row].as_py()
        what = "repeats" if found.microseconds[row] == found.microseconds[row - 1] else "is before"
        hint = ""
        if found.missing:
            hint = "; if its clock is never put forward, set energy.timezone to an offset such as +01:00"
        raise TraceError(
            f"{path}, line {first_line + row}: the time {text} {what} {before} of the line before; rows must be in "
            f"order, each time once{hint}."
        )
    return found


def _parse_texts(path: Path, column: Any, first_line: int, zone: tzinfo) -> Stamps:
    import pandas as pd
    import pyarrow.compute as pc

    offset = pc.match_substring_regex(column, OFFSET).to_numpy()
    mixed = np.flatnonzero(offset != offset[0])
    if mixed.size:
        kind = "an" if offset[mixed[0]] else "no"
        raise TraceError(
            f"{path}, line {first_line + mixed[0]}: the time {column[int(mixed[0])].as_py()} has {kind} offset from "
            "UTC, unlike those before it; write all of them in one way."
        )
    texts = pd.Series(column.to_numpy(), dtype="str")
    times = pd.to_datetime(texts, format="ISO8601", errors="coerce", utc=bool(offset[0]))
    wrong = np.flatnonzero(times.isna().to_numpy())
    if wrong.size:
        raise TraceError(
            f"{path}, line {first_line + wrong[0]}: '{texts.iloc[wrong[0]][:40]}' is no time; write it as in "
            "2025-06-21 12:00 or 2025-06-21T12:00:00Z."
        )
    if offset[0]:
        return Stamps(_microseconds(times.dt.tz_localize(None)))
    local = _microseconds(times)
    if not isinstance(zone, ZoneInfo):
        shift = zone.utcoffset(None) or timedelta()
        return Stamps(local - shift // timedelta(microseconds=1))
    return _in_zone(times, local, zone)


def _microseconds(times: Any) -> NDArray[np.int64]:
    return np.asarray(times.to_numpy(dtype="datetime64[us]").astype(np.int64))


def _in_zone(times: Any, local: NDArray[np.int64], zone: ZoneInfo) -> Stamps:
    """Returns the moments of local times in order: of an hour that comes twice, the first one that is still ahead."""
    import pandas as pd

    index = pd.DatetimeIndex(times)
    every = np.ones(len(index), dtype=bool)
    early, late = (
        index.tz_localize(zone, ambiguous=summer, nonexistent="NaT").tz_convert("UTC").tz_localize(None)
        for summer in (every, ~every)
    )
    missing = np.flatnonzero(early.isna())
    first, second = _microseconds(early), _microseconds(late)
    for row in missing:  # as a clock would show that has not been put forward yet
        moment = index[row].to_pydatetime().replace(tzinfo=zone).astimezone(UTC)
        first[row] = second[row] = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    first, second = np.minimum(first, second), np.maximum(first, second)
    result, repeated = first.copy(), 0
    for row in np.flatnonzero(first != second):
        if row and first[row] <= result[row - 1]:
            result[row] = second[row]
            repeated += 1
    offsets = local - result
    offsets = np.delete(offsets, missing)
    return Stamps(result, int(np.count_nonzero(np.diff(offsets))), repeated, int(missing.size))
