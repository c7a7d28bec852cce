"""Writing a run directory while the run happens, and taking a stopped run up again.

After a kill, the tables are cut back to the checkpoint.
"""

import csv
import hashlib
import os
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from safetensors.numpy import save as tensors_to_bytes

from fallow.errors import RunDirectoryError, TrackerError
from fallow.plugins.nested import flatten
from fallow.runs.layout import (
    CHECKPOINT,
    CONFIG,
    EPOCHS,
    EVENT_PARTS,
    EVENTS,
    MODEL,
    SUMMARY,
    check_free,
    clear,
    tidy,
)
from fallow.runs.reader import read_typed_epochs, rows_of
from fallow.runs.summary import Totals, summarise, to_json
from fallow.runs.tables import Tables, join_events
from fallow.runs.tracking import TrackerGroup
from fallow.simulation.engine import Engine
from fallow.simulation.records import EpochRecord, columns
from fallow.storage.checkpoints import read_checkpoint, write_checkpoint
from fallow.storage.files import write_atomically
from fallow.storage.locks import lock
from fallow.trackers import Row, TrackedRun


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
        self.engine.restore(arrays)
        self.totals = Totals(**notes["totals"])
        self._cut_back(notes["table_bytes"])
        if self._count_parts() != notes.get("event_parts", self._count_parts()):
            parts = self.directory / EVENT_PARTS
            raise RunDirectoryError(f"Parts of the events in {parts} are missing; the run must be started again.")
        tracked = self.engine.experiment.output.trackers
        self._begin_trackers(rows_of(read_typed_epochs(self.directory)) if tracked else [])

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
            clear(self.directory, trackers=not again)
            write_atomically(self.directory / CONFIG, self._config)
            with (self.directory / EPOCHS).open("w", newline="", encoding="utf-8") as file:
                csv.DictWriter(file, self._columns).writeheader()
        except OSError as error:
            raise self._unwritable(error) from error
        self._begin_trackers([])

    def _begin_trackers(self, past: Sequence[Row]) -> None:
        settings = flatten(tomllib.loads(self._config.decode()))
        try:
            self._trackers.begin(TrackedRun(self.directory, settings, past))
        except TrackerError:
            self._lock.close()
            raise

    def _checkpoint(self, table_bytes: int) -> None:
        notes = {
            "config": hashlib.sha256(self._config).hexdigest(),
            "table_bytes": table_bytes,
            "event_parts": self._count_parts(),
            "totals": self.totals.as_dict(),
        }
        write_checkpoint(self.directory / CHECKPOINT, self.engine.snapshot(), notes)

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
