"""The two tables of a run while they are written: epochs.csv row by row, the events in parts."""

import csv
import os
from pathlib import Path
from typing import TYPE_CHECKING

from fallow.simulation.events import Event
from fallow.simulation.records import EpochRecord
from fallow.storage.files import PART

if TYPE_CHECKING:
    import pyarrow.parquet as pq


ROWS_AT_ONCE = 2**16
"""Events that are held before they are written."""


class Tables:
    """epochs.csv and the part of the events that is being written; `settle` makes both safe.

    Args:
        table: epochs.csv; rows are added to it.
        folder: Of the events' parts.
        names: The columns of the table.
    """

    def __init__(self, table: Path, folder: Path, names: tuple[str, ...]) -> None:
        self._file = table.open("a", newline="", encoding="utf-8")
        self._rows = csv.DictWriter(self._file, names, extrasaction="ignore", restval="")
        self._folder = folder
        self._events: pq.ParquetWriter | None = None
        self._held: list[tuple[int, list[Event]]] = []
        self._held_rows = 0

    def write(self, record: EpochRecord) -> None:
        """Writes the row of an epoch, and its events.

        Args:
            record: What the engine returned for the epoch.
        """
        self._rows.writerow({name: "" if value is None else value for name, value in record.row().items()})
        if record.events:
            self._held.append((record.epoch, record.events))
            self._held_rows += sum(event.clients.size for event in record.events)
            if self._held_rows >= ROWS_AT_ONCE:
                self._write_events()

    def settle(self) -> int:
        """Writes everything to the disk, and returns the length of epochs.csv in bytes."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._write_events()
        if self._events is not None:
            self._events.close()
            self._events = None
            open_part = self._part.with_suffix(".open")
            with open_part.open("rb") as file:
                os.fsync(file.fileno())
            open_part.replace(self._part)
        return self._file.tell()

    def _write_events(self) -> None:
        """Writes the events that are held, as one group of rows: a group an epoch would cost more than the run."""
        if not self._held:
            return
        import pyarrow.parquet as pq  # only for those who write events

        from fallow.runs.event_table import EVENT_SCHEMA, events_table

        if self._events is None:
            self._folder.mkdir(exist_ok=True)
            self._part = self._folder / f"{self._held[0][0]:09}.parquet"
            self._events = pq.ParquetWriter(self._part.with_suffix(".open"), EVENT_SCHEMA)
        self._events.write_table(events_table(self._held))
        self._held, self._held_rows = [], 0

    def __enter__(self) -> "Tables":
        return self

    def __exit__(self, *_: object) -> None:
        if self._events is not None:
            self._events.close()
        self._file.close()


def join_events(parts: Path, path: Path) -> None:
    """Joins the parts of the events, in order, into one file.

    Args:
        parts: The folder of the parts.
        path: The file to write.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from fallow.runs.event_table import EVENT_SCHEMA

    whole = path.with_name(path.name + PART)
    with pq.ParquetWriter(whole, EVENT_SCHEMA) as writer:
        held: list[pa.Table] = []
        for part in sorted(parts.glob("*.parquet")):
            with pq.ParquetFile(part) as file:
                for group in range(file.num_row_groups):
                    held.append(file.read_row_group(group))
                    # Groups of one size, so that the file does not tell where the checkpoints were.
                    while sum(table.num_rows for table in held) >= ROWS_AT_ONCE:
                        together = pa.concat_tables(held)
                        writer.write_table(together.slice(0, ROWS_AT_ONCE).combine_chunks())
                        held = [together.slice(ROWS_AT_ONCE)]
        if held:
            writer.write_table(pa.concat_tables(held).combine_chunks())
    with whole.open("rb") as file:
        os.fsync(file.fileno())
    whole.replace(path)
