"""The run directory: config.toml, epochs.csv, events.parquet, model.safetensors and, last of all, summary.json.

A directory without summary.json is not a finished run. While a run goes on, checkpoint.fallow holds its state and
events/ the events so far; both go when it is finished. After a kill, the tables are cut back to the checkpoint.
Trackers write to folders of their own.
"""

import csv
import hashlib
import json
import os
import shutil
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from safetensors.numpy import save as tensors_to_bytes

from fallow.errors import FallowError, RunDirectoryError, TrackerError
from fallow.experiment import Experiment
from fallow.plugins.nested import flatten
from fallow.runs.summary import Totals, summarise, to_json
from fallow.runs.tables import Tables, join_events, read_rows
from fallow.runs.tracking import TrackerGroup
from fallow.simulation.engine import Engine
from fallow.simulation.records import EpochRecord, columns
from fallow.state import pack, unpack
from fallow.storage.checkpoints import read_checkpoint, write_checkpoint
from fallow.storage.files import PART, write_atomically
from fallow.storage.locks import lock
from fallow.trackers import FOLDERS, Row, TrackedRun

CONFIG, EPOCHS, EVENTS, SUMMARY = "config.toml", "epochs.csv", "events.parquet", "summary.json"
CHECKPOINT, EVENT_PARTS, MODEL = "checkpoint.fallow", "events", "model.safetensors"


def check_place(directory: Path) -> None:
    """Refuses a place where no directory can be: on a file, or under one."""
    try:
        there = next(path for path in (directory, *directory.parents) if path.exists())
    except OSError as error:
        raise RunDirectoryError(f"{directory} can't be written to: {error.strerror or error}.") from error
    if not there.is_dir():
        raise RunDirectoryError(f"{there} is a file; choose another --out.")


def check_free(directory: Path, *, overwrite: bool = False) -> None:
    """Says why a new run can't be written to `directory`, if so; touches nothing."""
    check_place(directory)
    if not directory.exists():
        return
    if (directory / SUMMARY).exists() and not overwrite:
        raise RunDirectoryError(f"{directory} holds a finished run; choose another --out, or replace it: --overwrite.")
    if (directory / CHECKPOINT).exists() and not overwrite:
        raise RunDirectoryError(
            f"{directory} holds an unfinished run; `fallow resume {directory}` goes on with it, and --overwrite "
            "begins again."
        )
    if any(directory.iterdir()) and not _is_run(directory):
        raise RunDirectoryError(f"{directory} is not empty and not a run; choose another --out.")


def _is_run(directory: Path) -> bool:
    """Tells a run from a folder of somebody's own, which may well have a config.toml or a model.safetensors."""
    names = {path.name for path in directory.iterdir()}
    if names & {SUMMARY, CHECKPOINT}:
        return CONFIG in names
    if CONFIG not in names:
        return names <= {CONFIG + PART}  # a kill may have left a config half written, and nothing else
    try:
        return (directory / CONFIG).read_text(encoding="utf-8") == read_experiment(directory).to_toml()
    except (FallowError, UnicodeDecodeError):
        return False


def clear(directory: Path) -> None:
    """Removes a run. The summary goes first: from then on it does not look finished."""
    for name in (SUMMARY, CHECKPOINT, EPOCHS, EVENTS, MODEL, CONFIG + PART):
        (directory / name).unlink(missing_ok=True)
    shutil.rmtree(directory / EVENT_PARTS, ignore_errors=True)


def clear_trackers(directory: Path) -> None:
    """Removes what trackers wrote of a run."""
    for name in FOLDERS:
        shutil.rmtree(directory / name, ignore_errors=True)


def is_finished(directory: Path) -> bool:
    """Tells whether a directory holds a finished run."""
    return (directory / SUMMARY).exists()


def tidy(directory: Path) -> None:
    """Removes what a finished run no longer needs; a kill right after its end can leave it behind."""
    (directory / CHECKPOINT).unlink(missing_ok=True)
    shutil.rmtree(directory / EVENT_PARTS, ignore_errors=True)


def read_experiment(directory: Path) -> Experiment:
    """Returns the resolved experiment of a run directory; whether it could be run here does not matter."""
    if not (directory / CONFIG).is_file():
        runs = sorted(path.parent for path in directory.glob(f"*/{CONFIG}"))
        reason = f"it holds {len(runs)}; give one, such as {runs[0]}" if runs else f"it has no {CONFIG}"
        raise RunDirectoryError(f"{directory} is no run directory: {reason}.")
    return Experiment.read(directory / CONFIG, to_run=False)


def read_summary(directory: Path) -> dict[str, Any]:
    """Returns the totals of a finished run."""
    path = directory / SUMMARY
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    for key, kind in (("policy", str), ("clients", int), ("epochs", int)):
        if not isinstance(summary, dict) or not isinstance(summary.get(key), kind):
            raise RunDirectoryError(f"{path} has no '{key}'; it is not the summary of a run of this version.")
    return dict(summary)


def unreadable(path: Path, error: Exception) -> RunDirectoryError:
    """Returns the error that a file of a run can't be read."""
    reason = getattr(error, "strerror", None) or " ".join(str(error).split()).rstrip(".")
    return RunDirectoryError(f"{path} can't be read: {reason}.")


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
        self._trackers = TrackerGroup(engine.experiment.output.trackers)

    def begin(self, *, overwrite: bool = False) -> None:
        """Makes the directory ready for a new run; one that is there is replaced only with `overwrite`."""
        self._begin(overwrite=overwrite, again=False)

    def resume(self) -> None:
        """Takes up the run from its checkpoint; without one, from the beginning."""
        checkpoint = self.directory / CHECKPOINT
        if not checkpoint.exists():
            self._begin(overwrite=True, again=True)
            return
        self._lock = lock(self.directory)
        arrays, notes = read_checkpoint(checkpoint)
        self._config = (self.directory / CONFIG).read_bytes()
        if notes["config"] != hashlib.sha256(self._config).hexdigest():
            raise RunDirectoryError(
                f"{self.directory / CONFIG} was changed after the checkpoint was made; put it back, or begin a new run."
            )
        self.engine.restore(self.engine.unpack(arrays, notes["state"]))
        self.totals = unpack(Totals, {}, notes["totals"])
        self._cut_back(notes["table_bytes"])
        if self._count_parts() != notes.get("event_parts", self._count_parts()):
            parts = self.directory / EVENT_PARTS
            raise RunDirectoryError(f"Parts of the events in {parts} are missing; the run must be started again.")
        tracked = self.engine.experiment.output.trackers
        self._begin_trackers(read_rows(self.directory / EPOCHS) if tracked else [])

    def write(self, epochs: Iterable[EpochRecord]) -> dict[str, Any]:
        """Writes the epochs of the engine as they come, then the summary, which it returns."""
        every = self.engine.experiment.output.checkpoint_every
        try:
            with Tables(self.directory / EPOCHS, self.directory / EVENT_PARTS, self._columns) as tables:
                for record in epochs:
                    tables.write(record)
                    self.totals.add(record)
                    self._trackers.log(record)
                    if self.engine.epoch % every == 0 or self.engine.epoch == self.engine.experiment.epochs:
                        self._trackers.flush()
                        self._checkpoint(tables.settle())
            summary = self._finish()
        except OSError as error:
            raise self._unwritable(error) from error
        finally:
            self._lock.close()
        self._trackers.complain(f"The run in {self.directory} is finished and whole. ")
        return summary

    def _begin(self, *, overwrite: bool, again: bool) -> None:
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            self._lock = lock(self.directory)
            check_free(self.directory, overwrite=overwrite)
            clear(self.directory)
            if not again:
                clear_trackers(self.directory)
            write_atomically(self.directory / CONFIG, self._config)
            with (self.directory / EPOCHS).open("w", newline="", encoding="utf-8") as file:
                csv.DictWriter(file, self._columns).writeheader()
        except OSError as error:
            raise self._unwritable(error) from error
        self._begin_trackers([])

    def _begin_trackers(self, past: list[Row]) -> None:
        settings = flatten(tomllib.loads(self._config.decode()))
        try:
            self._trackers.begin(TrackedRun(self.directory, settings, past))
        except TrackerError:
            self._lock.close()
            raise

    def _checkpoint(self, table_bytes: int) -> None:
        arrays, state = pack(self.engine.state)
        _, totals = pack(self.totals)
        notes = {
            "state": state,
            "config": hashlib.sha256(self._config).hexdigest(),
            "table_bytes": table_bytes,
            "event_parts": self._count_parts(),
            "totals": totals,
        }
        write_checkpoint(self.directory / CHECKPOINT, arrays, notes)

    def _count_parts(self) -> int:
        return sum(1 for _ in (self.directory / EVENT_PARTS).glob("*.parquet"))

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
        self._trackers.end(summary)  # before the run is finished: if it is killed here, they hear it again
        write_atomically(directory / SUMMARY, to_json(summary))
        tidy(directory)
        return summary

    def _unwritable(self, error: OSError) -> RunDirectoryError:
        kept = " What the last checkpoint holds is safe." if (self.directory / CHECKPOINT).exists() else ""
        return RunDirectoryError(f"{self.directory} can't be written to: {error.strerror or error}.{kept}")
