"""The tables of a run while they are written: CSV row by row, events and clients' scores in parts."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fallow.errors import RunDirectoryError
from fallow.learning.state import ClientScores
from fallow.runs.layout import CLIENT_SCORES, DEVICES, EPOCHS, EVENT_PARTS, EVENTS, PART_FOLDERS, SCORE_PARTS
from fallow.runs.parts import PartWriter, check_parts, cut_parts, join_parts
from fallow.simulation.events import Event
from fallow.simulation.records import EpochRecord
from fallow.storage.checksums import AGAIN, GrowingFile, Stamp, digest_file

if TYPE_CHECKING:
    import pyarrow as pa


class Tables:
    """epochs.csv, devices.csv, and the parts of other tables: what a run adds to as it goes on.

    Attributes:
        stamps: What each CSV file held when it was last made safe, by its name.
        settled: The SHA-256 of each part that is safe, by its folder and its name.

    Args:
        directory: Of the run.
        names: The columns of epochs.csv.
        device_columns: The columns of devices.csv; none where it is not written.
    """

    def __init__(self, directory: Path, names: Sequence[str], device_columns: Sequence[str] = ()) -> None:
        self._directory = directory
        self._columns = {EPOCHS: names} | ({DEVICES: device_columns} if device_columns else {})
        self._files = {name: GrowingFile(directory / name) for name in self._columns}
        self._rows = {
            name: csv.DictWriter(self._files[name], columns, extrasaction="ignore", restval="")
            for name, columns in self._columns.items()
        }
        self.stamps: dict[str, Stamp] = {}
        self.settled: dict[str, dict[str, str]] = {folder: {} for folder in PART_FOLDERS}
        self._open_parts()

    def begin(self) -> None:
        """Makes the CSV files, with their headings."""
        for name, file in self._files.items():
            file.begin()
            self._rows[name].writeheader()
            file.close()

    def check(self, stamps: Mapping[str, Stamp], settled: Mapping[str, Mapping[str, str]]) -> None:
        """Checks that the tables hold what they held at a checkpoint; touches nothing.

        Args:
            stamps: What each CSV file held, by its name.
            settled: The SHA-256 of each part, by its folder and its name.

        Raises:
            FallowError: Something is missing or damaged, or the checkpoint is of a run with other tables.
        """
        if stamps.keys() != self._files.keys() or settled.keys() != self.settled.keys():
            raise RunDirectoryError(f"The checkpoint in {self._directory} is of a run with other tables; {AGAIN}.")
        for name, stamp in stamps.items():
            self._files[name].check(stamp)
        for folder, parts in settled.items():
            check_parts(self._directory / folder, parts)
        self.stamps = dict(stamps)
        self.settled = {folder: dict(parts) for folder, parts in settled.items()}
        self._open_parts()

    def cut_back(self) -> None:
        """Removes what was written after the checkpoint that was checked, so that no row is lost or doubled."""
        for file in self._files.values():
            file.cut_back()
        for folder, parts in self.settled.items():
            cut_parts(self._directory / folder, parts)

    def write(self, record: EpochRecord) -> None:
        """Writes the row of an epoch, its events, and the clients' scores if it has them.

        Args:
            record: What the engine returned for the epoch.
        """
        self._rows[EPOCHS].writerow({name: "" if value is None else value for name, value in record.row().items()})
        if DEVICES in self._rows:
            self._rows[DEVICES].writerows(row.cells(record.epoch, self._columns[DEVICES]) for row in record.devices)
        if record.events:
            self._events.add(record.epoch, record.events, sum(event.clients.size for event in record.events))
        if record.client_scores is not None:
            self._scores.add(record.epoch, record.client_scores, record.client_scores.loss.size)

    def settle(self) -> None:
        """Writes everything to the disk."""
        self.stamps = {name: file.settle() for name, file in self._files.items()}
        self._events.settle()
        self._scores.settle()

    def __enter__(self) -> "Tables":
        for file in self._files.values():
            file.open()
        return self

    def __exit__(self, *_: object) -> None:
        self._events.close()
        self._scores.close()
        for file in self._files.values():
            file.close()

    def join(self, *, events: bool, scores: bool) -> dict[str, str]:
        """Makes events.parquet and client_scores.parquet of their parts.

        Args:
            events: Whether the run keeps events.
            scores: Whether the run scores its clients as it goes on.

        Returns:
            The SHA-256 of every table of the run, by the file's name.

        Raises:
            RunDirectoryError: A part was changed after it was written.
        """
        sums = {name: stamp.sha256 for name, stamp in self.stamps.items()}
        if events:
            from fallow.runs.event_table import EVENT_SCHEMA

            sums[EVENTS] = self._join(EVENT_PARTS, EVENTS, EVENT_SCHEMA)
        if scores:
            from fallow.runs.score_table import SCORE_SCHEMA

            sums[CLIENT_SCORES] = self._join(SCORE_PARTS, CLIENT_SCORES, SCORE_SCHEMA)
        return sums

    def _join(self, folder: str, name: str, schema: "pa.Schema") -> str:
        path = self._directory / name
        join_parts(self._directory / folder, path, schema, self.settled[folder])
        return digest_file(path)

    def _open_parts(self) -> None:
        self._events = PartWriter(self._directory / EVENT_PARTS, _events_table, self.settled[EVENT_PARTS])
        self._scores = PartWriter(self._directory / SCORE_PARTS, _scores_table, self.settled[SCORE_PARTS])


def _events_table(epochs: Sequence[tuple[int, list[Event]]]) -> "pa.Table":
    from fallow.runs.event_table import events_table

    return events_table(epochs)


def _scores_table(epochs: Sequence[tuple[int, ClientScores]]) -> "pa.Table":
    from fallow.runs.score_table import scores_table

    return scores_table(epochs)
