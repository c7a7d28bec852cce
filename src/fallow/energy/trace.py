"""Trace harvest: whole units per slot from a CSV file, measured or generated."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.energy.base import MOST_UNITS, Harvest, Units
from fallow.energy.outlook import EpochForecast
from fallow.energy.scaled_trace import ScaledTrace, exact_forecast, running_sums
from fallow.energy.table_file import find_fault, is_number, read_columns, read_first_row
from fallow.errors import TraceError
from fallow.plugins.wording import shortened

WHAT = "The trace"

NO_PATH = "…"
"""What ``fallow config --energy trace`` writes where the path belongs."""


@dataclass(frozen=True)
class Trace:
    """Whole units per slot from a CSV file: a column a client, with a header, or one column for all.

    Attributes:
        path: The CSV file; relative to the working directory.
        end: What follows the last row: "repeat" begins again, "zeros" harvests nothing more.

    Examples:
        >>> np.savetxt("sun.csv", [1, 0, 2], fmt="%d")
        >>> harvest = Trace("sun.csv").prepare(seed=0, clients=2, slots_per_epoch=2)
        >>> [slot.tolist() for slot in harvest(1)]
        [[2, 2], [1, 1]]
    """

    path: Annotated[str, Field(min_length=1, description="CSV file; relative to the working directory")]
    end: Annotated[
        Literal["repeat", "zeros"],
        Field(description="after the last row: begin again, or harvest nothing more"),
    ] = "repeat"

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Harvest:
        """Returns the harvest, after a check of every cell of the file.

        Args:
            seed: Is not used: the file alone decides.
            clients: N.
            slots_per_epoch: S.

        Raises:
            TraceError: The file can't be read, a cell is wrong, or there is not one column for each client.
        """
        table = self.read(clients)
        length, columns = table.shape
        nothing = np.zeros(columns, dtype=table.dtype)

        def harvest(epoch: int) -> Iterator[Units]:
            for slot in range(epoch * slots_per_epoch, (epoch + 1) * slots_per_epoch):
                row = nothing if self.end == "zeros" and slot >= length else table[slot % length]
                yield np.broadcast_to(row, clients)

        return harvest

    def mean(self, clients: int) -> NDArray[np.float64]:
        """Returns the mean of each client over the whole trace, whatever follows its end, shape (N,), float64.

        Args:
            clients: N.

        Raises:
            TraceError: The file can't be used.
        """
        return np.broadcast_to(self.read(clients).mean(axis=0), clients)

    def with_mean(self, mean: float) -> ScaledTrace:
        """Returns the trace times a factor, fractions carried from its first slot on.

        Args:
            mean: Units a slot, over all clients and the whole trace.
        """
        return ScaledTrace(self, mean)

    def prepare_forecast(self, seed: int, clients: int, slots_per_epoch: int) -> EpochForecast:
        """Returns the forecast, which is exact. The arguments are those of `Forecasting.prepare_forecast`."""
        return exact_forecast(running_sums(self.read(clients), repeats=self.end == "repeat"), clients, slots_per_epoch)

    def read(self, clients: int) -> NDArray[np.int32]:
        """Returns the units in the file, shape (slots, N) or, where one column serves all, (slots, 1), int32.

        Args:
            clients: N.

        Raises:
            TraceError: The file can't be read, a cell is wrong, or there is not one column for each client.
        """
        if self.path == NO_PATH:
            raise TraceError("The trace has no file yet; set energy.path to a CSV file of units per slot.")
        table = read_trace(Path(self.path))
        columns = table.shape[1]
        if columns not in (1, clients):
            raise TraceError(
                f"{self.path} has {columns} columns for {clients} clients; it needs one column for each client, or "
                "one for all."
            )
        return table


def read_trace(path: Path) -> NDArray[np.int32]:
    """Returns the units in a trace file, shape (slots, columns), int32.

    Args:
        path: A CSV file in UTF-8, with a row for each slot.

    Raises:
        TraceError: The file can't be read, or a cell is wrong; the error names the first such cell.
    """
    first = read_first_row(path, WHAT)
    if not first:
        raise TraceError(f"{path} holds no slots; a trace has one row for each slot.")
    has_header = not all(is_number(cell) for cell in first)
    if len(first) > 1 and not has_header:
        raise TraceError(
            f"{path} has {len(first)} columns and no header; a trace with a column for each client begins with a "
            "line of their names."
        )
    import pyarrow as pa  # slow to import, and only traces need it

    try:
        columns = read_columns(path, WHAT, [pa.int64()] * len(first), has_header=has_header)
    except ValueError as error:
        raise _first_fault(path, first, has_header, str(error)) from error
    if not len(columns[0]):
        raise TraceError(f"{path} holds no slots; a trace has one row for each slot.")
    units = np.stack([column.to_numpy() for column in columns], axis=1)
    if units.min() < 0 or units.max() > MOST_UNITS:
        raise _first_fault(path, first, has_header, "a cell is out of range")
    return units.astype(np.int32)


def _first_fault(path: Path, first: list[str], has_header: bool, otherwise: str) -> TraceError:
    found = find_fault(path, WHAT, first, _fault, has_header=has_header, start=0)
    return TraceError(f"{found or f'{path} is not a CSV file of whole units per slot: {shortened(otherwise)}'}.")


def _fault(cell: str) -> str | None:
    """Returns what is wrong with a cell, in words; None if nothing is."""
    text = shortened(cell.strip())
    if not text:
        return "the cell is empty; write 0 where nothing was harvested"
    if not is_number(text):
        return f"'{text}' is not a number"
    value = float(text)
    if not np.isfinite(value):
        return f"'{text}' is not a finite number"
    if value < 0:
        return f"{text} is negative; harvested units are 0 or more"
    if value > MOST_UNITS:
        return f"{text} is more than {MOST_UNITS} units"
    if value != int(value) or not text.lstrip("+").isdigit():
        return f"{text} is not a whole number; choose a smaller unit of energy and round"
    return None
