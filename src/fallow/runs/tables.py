"""The tables of a run while they are written: CSV row by row, events and clients' scores in parts."""

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fallow.learning.state import ClientScores
from fallow.runs.layout import CLIENT_SCORES, DEVICES, EPOCHS, EVENT_PARTS, EVENTS, SCORE_PARTS
from fallow.runs.parts import PartWriter, join_parts
from fallow.simulation.events import Event
from fallow.simulation.records import EpochRecord

if TYPE_CHECKING:
    import pyarrow as pa


class Tables:
    """epochs.csv, and the parts of other tables that are being written; `settle` makes all of it safe.

    Args:
        directory: Of the run; rows are added to its epochs.csv.
        names: The columns of epochs.csv.
        device_columns: The columns of devices.csv; none where it is not written.
    """

    def __init__(self, directory: Path, names: tuple[str, ...], device_columns: Sequence[str] = ()) -> None:
        self._file = (directory / EPOCHS).open("a", newline="", encoding="utf-8")
        self._rows = csv.DictWriter(self._file, names, extrasaction="ignore", restval="")
        self._device_columns = device_columns
        self._device_file = (directory / DEVICES).open("a", newline="", encoding="utf-8") if device_columns else None
        self._events = PartWriter(directory / EVENT_PARTS, _events_table)
        self._scores = PartWriter(directory / SCORE_PARTS, _scores_table)

    def write(self, record: EpochRecord) -> None:
        """Writes the row of an epoch, its events, and the clients' scores if it has them.

        Args:
            record: What the engine returned for the epoch.
        """
        self._rows.writerow({name: "" if value is None else value for name, value in record.row().items()})
        if self._device_file is not None:
            cells = [row.cells(record.epoch, self._device_columns) for row in record.devices]
            csv.DictWriter(self._device_file, self._device_columns).writerows(cells)
        if record.events:
            self._events.add(record.epoch, record.events, sum(event.clients.size for event in record.events))
        if record.client_scores is not None:
            self._scores.add(record.epoch, record.client_scores, record.client_scores.loss.size)

    def settle(self) -> dict[str, int]:
        """Writes everything to the disk, and returns the length of each CSV file in bytes, by its name."""
        files = {EPOCHS: self._file} | ({DEVICES: self._device_file} if self._device_file is not None else {})
        for file in files.values():
            file.flush()
            os.fsync(file.fileno())
        self._events.settle()
        self._scores.settle()
        return {name: file.tell() for name, file in files.items()}

    def __enter__(self) -> "Tables":
        return self

    def __exit__(self, *_: object) -> None:
        self._events.close()
        self._scores.close()
        self._file.close()
        if self._device_file is not None:
            self._device_file.close()


def join_tables(directory: Path, *, events: bool, scores: bool) -> None:
    """Makes events.parquet and client_scores.parquet of their parts.

    Args:
        directory: Of the run, which is at its end.
        events: Whether the run keeps events.
        scores: Whether the run scores its clients as it goes on.
    """
    if events:
        from fallow.runs.event_table import EVENT_SCHEMA

        join_parts(directory / EVENT_PARTS, directory / EVENTS, EVENT_SCHEMA)
    if scores:
        from fallow.runs.score_table import SCORE_SCHEMA

        join_parts(directory / SCORE_PARTS, directory / CLIENT_SCORES, SCORE_SCHEMA)


def _events_table(epochs: Sequence[tuple[int, list[Event]]]) -> "pa.Table":
    from fallow.runs.event_table import events_table

    return events_table(epochs)


def _scores_table(epochs: Sequence[tuple[int, ClientScores]]) -> "pa.Table":
    from fallow.runs.score_table import scores_table

    return scores_table(epochs)
