"""Carrying out runs: begun, or taken up where they were left."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fallow.errors import RunDirectoryError
from fallow.experiment import Experiment, bound_to_process, check_experiment
from fallow.experiment.harvests import mean_harvest_of
from fallow.memory import reuse_freed
from fallow.processors import check_workers
from fallow.runs.begun import as_begun, check_same
from fallow.runs.layout import as_folder, check_place, is_begun, is_finished
from fallow.runs.ownership import check_free, check_links, tidy
from fallow.runs.progress import Bar, show_progress, tell
from fallow.runs.reader import read_settings
from fallow.runs.recorded import RecordedRun
from fallow.runs.run import Run, load_run
from fallow.runs.stopping import how_to_go_on, stop_between_epochs
from fallow.runs.untrained import foresee_no_training
from fallow.runs.writer import OpenRun, RunWriter
from fallow.simulation.engine import Engine
from fallow.simulation.records import EpochRecord
from fallow.storage.locks import hold, hold_next


def run(
    experiment: Experiment,
    out: Path | str | None = None,
    *,
    overwrite: bool = False,
    workers: int | None = None,
    progress: bool = True,
) -> Run:
    """Runs an experiment and returns the run.

    Ctrl-C ends it early, when the epoch is whole: in memory the epochs so far are returned, and `out` is left as a
    directory that ``fallow.resume`` goes on with. Another Ctrl-C ends it at once.

    Args:
        experiment: What to run.
        out: The run directory; None keeps everything in memory and writes nothing.
        overwrite: Whether a run in `out` may be replaced.
        workers: Threads, in place of compute.workers; changes no result.
        progress: Whether to show how far it is, on a terminal or in a notebook.

    Raises:
        ConfigError: `experiment`, `out` or `workers` is of another kind.
        RunDirectoryError: `out` holds a run or something else, or can't be written to; nothing has been done then.

    Examples:
        >>> from fallow.experiment import Experiment
        >>> found = run(Experiment(epochs=5), progress=False)
        >>> len(found.epochs), found.finished
        (5, True)
    """
    check_experiment(experiment)
    check_workers(workers)
    if out is None:
        return _run_in_memory(experiment, workers, progress=progress)
    directory = as_folder(out, "out")
    check_free(directory, overwrite=overwrite)
    with hold(directory):
        _run_held(experiment, directory, overwrite=overwrite, workers=workers, progress=progress)
    return load_run(directory)


def run_next(experiment: Experiment, folder: Path, *, workers: int | None = None, progress: bool = True) -> Run:
    """Runs an experiment in the next free directory of a folder, as in ``vaoi-1``, and returns the run.

    Several processes may do so at once: each has a directory of its own.

    Args:
        experiment: What to run.
        folder: Where the run directory is made; it need not exist.
        workers: Threads, in place of compute.workers; changes no result.
        progress: Whether to show how far it is, on a terminal or in a notebook.

    Raises:
        RunDirectoryError: The folder can't be written to; nothing has been done then.
    """
    check_place(folder)
    with hold_next(folder, experiment.policy.name.replace(":", ".")) as directory:
        _run_held(experiment, directory, overwrite=False, workers=workers, progress=progress)
    return load_run(directory)


def resume(
    directory: Path | str, *, workers: int | None = None, progress: bool = True, accept_changes: bool = False
) -> Run:
    """Goes on with a run that was stopped, and returns the run. A finished run is returned as it is.

    Args:
        directory: The run directory.
        workers: Threads, in place of compute.workers; changes no result.
        progress: Whether to show how far it is, on a terminal or in a notebook.
        accept_changes: Whether to go on with other versions of Fallow, NumPy, PyArrow or PyTorch, or with other input
            files, than before; the summary says which epochs were made with what.

    Raises:
        ConfigError: `directory` is no path, or `workers` no number of threads.
        RunDirectoryError: There is no run, or what is there can't be gone on with.
    """
    check_workers(workers)
    folder = as_folder(directory)
    with begin_or_resume(None, folder, workers=workers, accept_changes=accept_changes) as open_run:
        if open_run is not None:
            _write(open_run, progress=progress)
    return load_run(folder)


@contextmanager
def begin_or_resume(
    experiment: Experiment | None, directory: Path, *, workers: int | None = None, accept_changes: bool = False
) -> Iterator[OpenRun | None]:
    """Opens the directory of a run: begins the run there, or goes on with it. The directory is locked meanwhile.

    Args:
        experiment: What to run; None is what the directory's config says, which must be there then.
        directory: Where to.
        workers: Threads, in place of compute.workers; changes no result.
        accept_changes: Whether to go on with other versions or input files than before.

    Yields:
        The run, to write its epochs; None if it is finished already.

    Raises:
        RunDirectoryError: There is no run, one of another experiment, or what is there can't be gone on with.
    """
    check_place(directory)
    if experiment is None:
        read_settings(directory)  # before anything is made: there must be a run
    with hold(directory):  # what is there is decided on under the lock alone
        check_links(directory)
        begun = is_begun(directory)
        if is_finished(directory):
            if experiment is not None and begun:
                check_same(experiment, directory)
            tidy(directory)
            yield None
            return
        if experiment is None or begun:
            experiment = as_begun(experiment, directory)
        engine = _engine(experiment, workers)
        with RunWriter(engine, directory, resume=begun, held=True, accept_changes=accept_changes) as open_run:
            yield open_run


def _run_held(experiment: Experiment, directory: Path, *, overwrite: bool, workers: int | None, progress: bool) -> None:
    """Runs an experiment in a directory that is held."""
    engine = _engine(experiment, workers)
    with RunWriter(engine, directory, overwrite=overwrite, held=True) as open_run:
        _write(open_run, progress=progress)


def _run_in_memory(experiment: Experiment, workers: int | None, *, progress: bool) -> Run:
    if experiment.output.trackers:
        raise RunDirectoryError("output.trackers need a run directory to write to; give one with out=…")
    engine = _engine(experiment, workers)
    recorded = RecordedRun(engine)
    with _show(engine, progress=progress) as bar, stop_between_epochs() as stop:
        with suppress(KeyboardInterrupt):  # of somebody who could not wait for the end of the epoch
            for record in _passed(engine, bar):
                recorded.add(record)
                if stop.asked():
                    break
        if engine.epoch < experiment.epochs:
            tell(f"Stopped after {engine.epoch} of {experiment.epochs} epochs; the run so far is returned.")
    return Run(recorded)


def _write(open_run: OpenRun, *, progress: bool) -> None:
    engine, experiment = open_run.engine, open_run.engine.experiment
    with _show(engine, progress=progress) as bar, stop_between_epochs() as stop:
        summary = None
        with suppress(KeyboardInterrupt):  # of somebody who could not wait for the end of the epoch
            summary = open_run.write(_passed(engine, bar), stop.asked)
        if summary is None:
            bound = bound_to_process(experiment)
            tell(how_to_go_on(open_run.directory, engine.epoch, open_run.kept, experiment.epochs, bound))


def _engine(experiment: Experiment, workers: int | None) -> Engine:
    reuse_freed()
    return Engine(experiment, workers=workers)


def _show(engine: Engine, *, progress: bool) -> Bar:
    """Says what should be said before the first epoch, and returns the bar."""
    experiment = engine.experiment
    if engine.learner and experiment.compute.precision == "bf16":
        from fallow.learning.device import emulates_bf16  # PyTorch is loaded by now

        if emulates_bf16(experiment.compute.device):
            tell("Note: this processor has no bfloat16 arithmetic; fp32 will be many times faster.")
    if progress and engine.epoch == 0:
        foreseen = foresee_no_training(engine.world.physics, mean_harvest_of(experiment), experiment.epochs)
        if foreseen:
            tell(foreseen)
    return show_progress(experiment.epochs, experiment.policy.name, done=engine.epoch, show=progress)


def _passed(epochs: Iterable[EpochRecord], bar: Bar) -> Iterator[EpochRecord]:
    for record in epochs:
        yield record
        bar.advance()
