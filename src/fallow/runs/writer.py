"""Writing a run directory while the run happens, and taking a stopped run up again.

with RunWriter(engine, directory) as run:
    summary = run.write(engine)

After a kill, the tables are cut back to the checkpoint.
"""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from safetensors.numpy import save as tensors_to_bytes

from fallow.errors import CheckpointError, RunDirectoryError, StateError
from fallow.plugins.nested import flatten
from fallow.runs.clients import client_columns, write_clients
from fallow.runs.layout import (
    CHECKPOINT,
    CHECKSUMS,
    CLIENTS,
    CONFIG,
    MODEL,
    ROWS,
    SUMMARY,
    check_place,
    has_checkpoint,
    is_finished,
)
from fallow.runs.notes import RunNotes
from fallow.runs.origins import Origin, check_origin, continue_origins, find_origin
from fallow.runs.ownership import check_free, check_links, clear, tidy
from fallow.runs.reader import read_typed_epochs, rows_of
from fallow.runs.summary import Totals, summarise, to_json
from fallow.runs.tables import Tables
from fallow.runs.tracking import TrackerGroup
from fallow.simulation.engine import Engine
from fallow.simulation.records import EpochRecord, columns
from fallow.simulation.run_state import check_fits
from fallow.state import pack, unpack
from fallow.storage.checkpoints import CheckpointFile
from fallow.storage.checksums import digest, write_list
from fallow.storage.files import write_atomically
from fallow.storage.locks import hold
from fallow.trackers import Row, TrackedRun


class RunWriter:
    """Opens a run directory for a run. No other writer can open it until this one has left it.

    Args:
        engine: The run; to go on with a run, it is made of the experiment that was begun.
        directory: Where to.
        overwrite: Whether a run that is there may be replaced by a new one.
        resume: Whether to go on with the run that is there: from its checkpoint or, without one, from its beginning.
        held: Whether the caller holds the directory already, with ``storage.locks.hold``.
        accept_changes: Whether to go on with other versions or input files than before.
    """

    def __init__(
        self,
        engine: Engine,
        directory: Path,
        *,
        overwrite: bool = False,
        resume: bool = False,
        held: bool = False,
        accept_changes: bool = False,
    ) -> None:
        self._engine = engine
        self._directory = directory
        self._overwrite = overwrite
        self._resume = resume
        self._held = held
        self._accept_changes = accept_changes

    def __enter__(self) -> "OpenRun":
        """Begins the run or goes on with it, and returns it.

        Raises:
            RunDirectoryError: The directory is not free, can't be written to, or what it holds can't be gone on with.
            TrackerError: A tracker can't begin.
        """
        check_place(self._directory)
        with _own_errors(self._directory), ExitStack() as stack:
            if not self._held:
                stack.enter_context(hold(self._directory))
            run = OpenRun(self._engine, self._directory)
            if self._resume and is_finished(self._directory):
                raise RunDirectoryError(f"The run in {self._directory} is finished already; nothing is left to do.")
            if self._resume and has_checkpoint(self._directory):
                run.go_on(accept_changes=self._accept_changes)
            else:
                run.begin(overwrite=self._overwrite or self._resume, again=self._resume)
            self._stack = stack.pop_all()
        return run

    def __exit__(self, *exception: Any) -> None:
        self._stack.__exit__(*exception)


class OpenRun:
    """A run whose directory is open for writing; ``RunWriter`` makes it.

    Attributes:
        engine: The run.
        directory: Where to.
        totals: Sums over the epochs so far.
        kept: How many epochs the checkpoint holds.
    """

    def __init__(self, engine: Engine, directory: Path) -> None:
        self.engine = engine
        self.directory = directory
        self.totals = Totals()
        self.kept = 0
        names = columns(engine.classes, extended=engine.world.physics.extended)
        self._tables = Tables(directory, names, engine.device_books.columns if engine.device_books else ())
        self._origins: tuple[Origin, ...] = (find_origin(engine),)
        self._config = engine.experiment.to_toml().encode()
        self._checkpoint_file = CheckpointFile(directory / CHECKPOINT, directory / ROWS)
        self._trackers = TrackerGroup(engine.experiment.output.trackers)

    def begin(self, *, overwrite: bool, again: bool) -> None:
        """Makes the directory ready for the first epoch.

        Args:
            overwrite: Whether a run that is there may be replaced.
            again: Whether the run was begun before, so that trackers may have heard of it.

        Raises:
            RunDirectoryError: The directory is not free.
            TrackerError: A tracker can't begin.
        """
        directory = self.directory
        check_free(directory, overwrite=overwrite)
        if again:
            check_links(directory)
        clear(directory, trackers=not again)
        write_atomically(directory / CONFIG, self._config)
        self._tables.begin()
        self._begin_trackers([])

    def go_on(self, *, accept_changes: bool = False) -> None:
        """Goes on from the checkpoint: engine, totals and tables are as they were when it was written.

        Everything is checked before anything is changed.

        Args:
            accept_changes: Whether versions and input files may be others than before.

        Raises:
            RunDirectoryError: The files do not fit the checkpoint, or something else changed.
            CheckpointError: The checkpoint, or what it builds on, is damaged.
        """
        check_links(self.directory)
        arrays, packed = self._checkpoint_file.read()
        try:
            notes = unpack(RunNotes, {}, packed.get("run"))
            state = self.engine.unpack(arrays, packed.get("state"))
            check_fits(state, self.engine.state, self.engine.experiment.epochs)
        except StateError as error:
            raise CheckpointError(f"{self.directory / CHECKPOINT} does not fit this run: {error}") from error
        self._config = (self.directory / CONFIG).read_bytes()
        if notes.config != digest(self._config):
            raise RunDirectoryError(
                f"{self.directory / CONFIG} was changed after the checkpoint was made; put it back, or begin a new run."
            )
        self._tables.check(notes.tables, notes.parts)
        self.engine.restore(state)
        self.kept = self.engine.epoch
        now = find_origin(self.engine)
        if notes.origins and not accept_changes:
            check_origin(self.directory, notes.origins[-1], now)
        self._origins = continue_origins(notes.origins, now)
        self.totals = notes.totals
        for name in (SUMMARY, CHECKSUMS):  # of an end that was cut short, or not of this run
            (self.directory / name).unlink(missing_ok=True)
        self._tables.cut_back()
        tracked = self.engine.experiment.output.trackers
        self._begin_trackers(rows_of(read_typed_epochs(self.directory)) if tracked else [])

    def write(
        self, epochs: Iterable[EpochRecord], stop_asked: Callable[[], bool] = lambda: False
    ) -> dict[str, Any] | None:
        """Writes the epochs of the engine as they come, and returns the summary.

        Args:
            epochs: From the engine's next epoch on.
            stop_asked: Returns whether to stop after this epoch, with a checkpoint.

        Returns:
            What summary.json holds; None if the epochs ended before the run did, which can be resumed then.

        Raises:
            TrackerError: A tracker failed; the run is finished all the same.
        """
        every, last = self.engine.experiment.output.checkpoint_every, self.engine.experiment.epochs
        with _own_errors(self.directory):
            with self._tables as tables:
                for record in epochs:
                    tables.write(record)
                    self.totals.add(record)
                    self._trackers.log(record)
                    stops = stop_asked()
                    if self.engine.epoch % every == 0 or self.engine.epoch == last or stops:
                        self._trackers.flush()
                        tables.settle()
                        self._checkpoint()
                    if stops:
                        break
            if self.engine.epoch < last:
                return None
            summary = self._finish()
        self._trackers.complain(f"The run in {self.directory} is finished and whole. ")
        return summary

    def _begin_trackers(self, past: Sequence[Row]) -> None:
        settings = flatten(tomllib.loads(self._config.decode()))
        self._trackers.begin(TrackedRun(self.directory, settings, past))

    def _checkpoint(self) -> None:
        arrays, state = pack(self.engine.state)
        config, tables = digest(self._config), self._tables
        _, run = pack(RunNotes(config, tables.stamps, tables.settled, self._origins, self.totals))
        self._checkpoint_file.write(arrays, {"state": state, "run": run})
        self.kept = self.engine.epoch

    def _finish(self) -> dict[str, Any]:
        engine, directory = self.engine, self.directory
        of_clients = engine.learner.evaluate_clients() if engine.learner else None
        every = engine.experiment.learning.client_eval_every
        sums = {CONFIG: digest(self._config)}
        sums |= self._tables.join(events=engine.experiment.output.events, scores=of_clients is not None and every > 0)
        columns_of_clients = client_columns(engine.world, engine.epoch, of_clients, engine.experiment)
        sums[CLIENTS] = write_clients(directory / CLIENTS, columns_of_clients)
        if engine.learner:
            network, weights = engine.learner.task.network, engine.learner.handed_out
            model = tensors_to_bytes(network.named_arrays(weights))
            write_atomically(directory / MODEL, model)
            sums[MODEL] = digest(model)
        summary = summarise(engine, self.totals, self._origins)
        self._trackers.end(summary)  # before the run is finished: if it is killed here, they hear it again
        content = to_json(summary)
        write_list(directory / CHECKSUMS, sums | {SUMMARY: digest(content)})
        write_atomically(directory / SUMMARY, content)
        tidy(directory)
        return summary


@contextmanager
def _own_errors(directory: Path) -> Iterator[None]:
    """Says of a disk that takes no more, or of any other failure to write, what it means for the run."""
    try:
        yield
    except OSError as error:
        kept = " What the last checkpoint holds is safe." if has_checkpoint(directory) else ""
        raise RunDirectoryError(f"{directory} can't be written to: {error.strerror or error}.{kept}") from error
