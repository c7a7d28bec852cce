"""The run directory: config.toml, epochs.csv, events.parquet, model.safetensors and, last of all, summary.json.

A directory without summary.json is not a finished run. While a run goes on, checkpoint.fallow holds its state and
events/ the events so far; both go when it is finished. After a kill, the tables are cut back to the checkpoint.
"""

import csv
import hashlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from safetensors.numpy import save as tensors_to_bytes

from fallow.checkpoint import PART, read_checkpoint, write_atomically, write_checkpoint
from fallow.config import Experiment
from fallow.engine import Engine
from fallow.errors import RunDirectoryError
from fallow.events import EVENT_SCHEMA, events_table
from fallow.locks import lock
from fallow.records import EpochRecord, columns
from fallow.summary import Totals, summarise, to_json

CONFIG, EPOCHS, EVENTS, SUMMARY = "config.toml", "epochs.csv", "events.parquet", "summary.json"
CHECKPOINT, EVENT_PARTS, MODEL = "checkpoint.fallow", "events", "model.safetensors"


def check_free(directory: Path, *, overwrite: bool = False) -> None:
    """Says why a new run can't be written to `directory`, if so; touches nothing."""
    if not directory.exists():
        return
    if not directory.is_dir():
        raise RunDirectoryError(f"{directory} is a file; choose another --out.")
    if (directory / SUMMARY).exists() and not overwrite:
        raise RunDirectoryError(
            f"{directory} holds a finished run; choose another --out, or give --overwrite to replace it."
        )
    if (directory / CHECKPOINT).exists() and not overwrite:
        raise RunDirectoryError(
            f"{directory} holds an unfinished run; `fallow resume {directory}` goes on with it, and --overwrite "
            "begins again."
        )
    begun = {CONFIG, CONFIG + PART}  # a kill may have left a config half written
    if any(directory.iterdir()) and not any((directory / name).exists() for name in begun):
        raise RunDirectoryError(f"{directory} is not empty and not a run; choose another --out.")


def clear(directory: Path) -> None:
    """Removes a run. The summary goes first: from then on it does not look finished."""
    for name in (SUMMARY, CHECKPOINT, EPOCHS, EVENTS, MODEL, CONFIG + PART):
        (directory / name).unlink(missing_ok=True)
    shutil.rmtree(directory / EVENT_PARTS, ignore_errors=True)


def is_finished(directory: Path) -> bool:
    """Tells whether a directory holds a finished run."""
    return (directory / SUMMARY).exists()


def tidy(directory: Path) -> None:
    """Removes what a finished run no longer needs; a kill right after its end can leave it behind."""
    (directory / CHECKPOINT).unlink(missing_ok=True)
    shutil.rmtree(directory / EVENT_PARTS, ignore_errors=True)


def read_experiment(directory: Path) -> Experiment:
    """Returns the resolved experiment of a run directory."""
    if not (directory / CONFIG).is_file():
        raise RunDirectoryError(f"{directory} is no run directory: it has no {CONFIG}.")
    return Experiment.read(directory / CONFIG)


class RunWriter:
    """Writes a run into its directory while it happens, and can take it up again.

    Attributes:
        engine: The run.
        directory: Where to.
        totals: Sums over the epochs so far.
    """

    def __init__(self, engine: Engine, directory: Path) -> None:
        self.engine = engine
        self.directory = directory
        self.totals = Totals()
        self._columns = columns(engine.classes)
        self._config = engine.experiment.to_toml().encode()

    def begin(self, *, overwrite: bool = False) -> None:
        """Makes the directory ready for a new run; one that is there is replaced only with `overwrite`."""
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            self._lock = lock(self.directory)
            check_free(self.directory, overwrite=overwrite)
            clear(self.directory)
            write_atomically(self.directory / CONFIG, self._config)
            with (self.directory / EPOCHS).open("w", newline="", encoding="utf-8") as file:
                csv.DictWriter(file, self._columns).writeheader()
        except OSError as error:
            raise self._unwritable(error) from error

    def resume(self) -> None:
        """Takes up the run from its checkpoint; without one, from the beginning."""
        checkpoint = self.directory / CHECKPOINT
        if not checkpoint.exists():
            self.begin(overwrite=True)
            return
        self._lock = lock(self.directory)
        arrays, notes = read_checkpoint(checkpoint)
        if notes["config"] != hashlib.sha256((self.directory / CONFIG).read_bytes()).hexdigest():
            raise RunDirectoryError(
                f"{self.directory / CONFIG} was changed after the checkpoint was made; put it back, or begin a new run."
            )
        self.engine.restore(arrays)
        self.totals = Totals(**notes["totals"])
        self._cut_back(notes["table_bytes"])

    def write(self, epochs: Iterable[EpochRecord]) -> dict[str, Any]:
        """Writes the epochs of the engine as they come, then the summary, which it returns."""
        every = self.engine.experiment.output.checkpoint_every
        try:
            with Tables(self.directory, self._columns, self.engine) as tables:
                for record in epochs:
                    tables.write(record)
                    self.totals.add(record)
                    if self.engine.epoch % every == 0 or self.engine.epoch == self.engine.experiment.epochs:
                        self._checkpoint(tables.settle())
            return self._finish()
        except OSError as error:
            raise self._unwritable(error) from error
        finally:
            self._lock.close()

    def _checkpoint(self, table_bytes: int) -> None:
        notes = {
            "config": hashlib.sha256(self._config).hexdigest(),
            "table_bytes": table_bytes,
            "totals": self.totals.as_dict(),
        }
        write_checkpoint(self.directory / CHECKPOINT, self.engine.snapshot(), notes)

    def _cut_back(self, table_bytes: int) -> None:
        """Removes what was written after the checkpoint, so that no row is lost or doubled."""
        table = self.directory / EPOCHS
        if not table.exists() or table.stat().st_size < table_bytes:
            raise RunDirectoryError(f"{table} is shorter than the checkpoint says; the run must be started again.")
        os.truncate(table, table_bytes)
        for part in (self.directory / EVENT_PARTS).glob("*"):
            if part.suffix != ".parquet" or int(part.stem) >= self.engine.epoch:
                part.unlink()

    def _finish(self) -> dict[str, Any]:
        engine, directory = self.engine, self.directory
        if engine.experiment.output.events:
            join_events(directory / EVENT_PARTS, directory / EVENTS)
        if engine.learner:
            network, weights = engine.learner.task.network, engine.learner.weights
            write_atomically(directory / MODEL, tensors_to_bytes(network.named_arrays(weights)))
        summary = summarise(engine, self.totals)
        write_atomically(directory / SUMMARY, to_json(summary))
        tidy(directory)
        return summary

    def _unwritable(self, error: OSError) -> RunDirectoryError:
        kept = " What the last checkpoint holds is safe." if (self.directory / CHECKPOINT).exists() else ""
        return RunDirectoryError(f"{self.directory} can't be written to: {error.strerror or error}.{kept}")


class Tables:
    """epochs.csv and the part of the events that is being written; `settle` makes both safe."""

    def __init__(self, directory: Path, names: tuple[str, ...], engine: Engine) -> None:
        self._file = (directory / EPOCHS).open("a", newline="", encoding="utf-8")
        self._rows = csv.DictWriter(self._file, names, extrasaction="ignore", restval="")
        self._folder = directory / EVENT_PARTS
        self._engine = engine
        self._events: pq.ParquetWriter | None = None

    def write(self, record: EpochRecord) -> None:
        """Writes a row, and the events behind it."""
        self._rows.writerow({name: "" if value is None else value for name, value in record.row().items()})
        if record.events:
            if self._events is None:
                self._folder.mkdir(exist_ok=True)
                self._part = self._folder / f"{record.epoch:09}.parquet"
                self._events = pq.ParquetWriter(self._part.with_suffix(".open"), EVENT_SCHEMA)
            self._events.write_table(events_table(record.epoch, record.events))

    def settle(self) -> int:
        """Puts everything on the disk; returns the length of epochs.csv."""
        self._file.flush()
        os.fsync(self._file.fileno())
        if self._events is not None:
            self._events.close()
            self._events = None
            open_part = self._part.with_suffix(".open")
            with open_part.open("rb") as file:
                os.fsync(file.fileno())
            open_part.replace(self._part)
        return self._file.tell()

    def __enter__(self) -> "Tables":
        return self

    def __exit__(self, *_: object) -> None:
        if self._events is not None:
            self._events.close()
        self._file.close()


def join_events(parts: Path, path: Path) -> None:
    """Joins the parts of the events, in order, into one file."""
    whole = path.with_name(path.name + PART)
    with pq.ParquetWriter(whole, EVENT_SCHEMA) as writer:
        for part in sorted(parts.glob("*.parquet")):
            with pq.ParquetFile(part) as file:
                for group in range(file.num_row_groups):
                    writer.write_table(file.read_row_group(group))
    with whole.open("rb") as file:
        os.fsync(file.fileno())
    whole.replace(path)
