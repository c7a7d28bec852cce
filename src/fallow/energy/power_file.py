"""A CSV file of power with time stamps, read as power over time."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fallow.energy.clock import duration_in_words
from fallow.energy.findings import Findings
from fallow.energy.stamps import parse_stamps
from fallow.energy.table_file import find_fault, is_number, read_columns, read_first_row
from fallow.errors import TraceError
from fallow.plugins.wording import shortened

WHAT = "The file"

MOST_FILLED = 10**7
"""Most rows that filling gaps may add."""

Fill = Literal["zeros", "interpolate", "hold"]


@dataclass(frozen=True, eq=False)
class PowerFile:
    """Power over time: constant from each edge to the next.

    Attributes:
        edges: Seconds from the first stamp, shape (K + 1,), float64; the last one is the end of the last row.
        watts: Shape (K, columns), float64.
        joules: From the first stamp until each edge, shape (K + 1, columns), float64.
        found: What was found.
    """

    edges: NDArray[np.float64]
    watts: NDArray[np.float64]
    joules: NDArray[np.float64]
    found: Findings

    def joules_until(self, seconds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns the joules from the first stamp until moments within the file, shape (M, columns), never falling.

        Args:
            seconds: From the first stamp, from 0 to the end, shape (M,).
        """
        row = np.clip(np.searchsorted(self.edges, seconds, side="right") - 1, 0, len(self.watts) - 1)
        part = self.watts[row] * (seconds - self.edges[row])[:, None]
        # The limit keeps rounding from letting the total fall from one row to the next.
        return np.minimum(self.joules[row] + part, self.joules[row + 1])


def read_power(path: Path, zone: tzinfo, gap: float, fill: Fill) -> PowerFile:
    """Returns the power in a file.

    Args:
        path: A CSV file in UTF-8: a column of time stamps, then one of watts, or one for each client.
        zone: Of stamps without offset.
        gap: How many typical steps a step may take before it counts as a gap.
        fill: What a gap is filled with, after one typical step of the row before it.

    Raises:
        TraceError: The file can't be read, or a cell is wrong; the error names the first such cell.
    """
    times, watts, first_line = _read_columns(path)
    stamps = parse_stamps(path, times, first_line, zone)
    if len(watts) < 2:
        raise TraceError(f"{path} has one row; power over time needs two at least, so that a row has a length.")
    seconds = (stamps.microseconds - stamps.microseconds[0]) / 1e6
    steps = np.diff(seconds)
    step = float(np.median(steps))
    gaps = np.flatnonzero(steps > gap * step)
    filled_seconds = float((steps[gaps] - step).sum())
    rows = len(watts)
    if gaps.size and fill != "hold":
        if fill == "interpolate" and filled_seconds / step > MOST_FILLED:
            raise TraceError(
                f"{path} has gaps of {duration_in_words(filled_seconds)}, too long to interpolate in steps of "
                f"{duration_in_words(step)}; set energy.fill to zeros, or cut the file."
            )
        seconds, watts = _filled(seconds, watts, gaps, step, fill)
    edges = np.append(seconds, seconds[-1] + step)
    joules = np.concatenate([np.zeros((1, watts.shape[1])), np.cumsum(watts * np.diff(edges)[:, None], axis=0)])
    first = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(stamps.microseconds[0]))
    found = Findings(
        path=str(path),
        rows=rows,
        columns=watts.shape[1],
        first=first,
        seconds=float(edges[-1]),
        step=step,
        gaps=int(gaps.size),
        gap_seconds=filled_seconds,
        fill=fill,
        clock_changes=stamps.clock_changes,
        repeated=stamps.repeated,
        missing=stamps.missing,
        mean_watts=float(joules[-1].mean() / edges[-1]),
    )
    return PowerFile(edges, watts, joules, found)


def _filled(
    seconds: NDArray[np.float64], watts: NDArray[np.float64], gaps: NDArray[np.int64], step: float, fill: Fill
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns the stamps and the watts with rows added in the gaps, one typical step after the row before each."""
    where, stamps, values = [], [], []
    for row in gaps:
        length = seconds[row + 1] - seconds[row]
        if fill == "zeros":
            after, power = np.array([step]), np.zeros((1, watts.shape[1]))
        else:
            after = np.arange(1, np.ceil(length / step)) * step
            power = watts[row] + (watts[row + 1] - watts[row]) * (after / length)[:, None]
        where.append(np.full(after.size, row + 1))
        stamps.append(seconds[row] + after)
        values.append(power)
    places = np.concatenate(where)
    return (
        np.insert(seconds, places, np.concatenate(stamps)),
        np.insert(watts, places, np.concatenate(values), axis=0),
    )


def _read_columns(path: Path) -> tuple[Any, NDArray[np.float64], int]:
    """Returns the stamps as an Arrow column of text, the watts of shape (rows, columns), and the first row's line."""
    first = read_first_row(path, WHAT)
    if not first:
        raise TraceError(f"{path} holds no power; it needs rows of a time and watts.")
    if len(first) < 2:
        raise TraceError(f"{path} has one column; it needs a column of times and one of watts, or one for each client.")
    has_header = not all(is_number(cell) for cell in first[1:])
    import pyarrow as pa  # slow to import, and only files need it

    types = [pa.string(), *[pa.float64()] * (len(first) - 1)]
    try:
        times, *columns = read_columns(path, WHAT, types, has_header=has_header)
    except ValueError as error:
        raise _first_fault(path, first, has_header, str(error)) from error
    if not len(times):
        raise TraceError(f"{path} holds no power; it needs rows of a time and watts.")
    watts = np.stack([column.to_numpy() for column in columns], axis=1)
    if not (np.isfinite(watts).all() and watts.min() >= 0):
        raise _first_fault(path, first, has_header, "a cell is out of range")
    return times, watts, 1 + int(has_header)


def _first_fault(path: Path, first: list[str], has_header: bool, otherwise: str) -> TraceError:
    found = find_fault(path, WHAT, first, _fault, has_header=has_header, start=1)
    return TraceError(f"{found or f'{path} is no CSV file of times and watts: {shortened(otherwise)}'}.")


def _fault(cell: str) -> str | None:
    """Returns what is wrong with a cell of watts, in words; None if nothing is."""
    text = shortened(cell.strip())
    if not text:
        return "the cell is empty; write 0, or leave the row out, so that it is a gap"
    if not is_number(text):
        return f"'{text}' is not a number"
    if not np.isfinite(float(text)):
        return f"'{text}' is not a finite number"
    return f"{text} is negative; harvested watts are 0 or more" if float(text) < 0 else None
