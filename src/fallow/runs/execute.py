"""Carrying out runs: begun, or taken up where they were left."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fallow.experiment import Experiment
from fallow.runs.layout import CONFIG, check_place, is_begun, is_finished, tidy
from fallow.runs.reader import read_settings
from fallow.runs.writer import OpenRun, RunWriter
from fallow.simulation.engine import Engine
from fallow.storage.locks import hold


@contextmanager
def begin_or_resume(
    experiment: Experiment | None, directory: Path, *, workers: int | None = None
) -> Iterator[OpenRun | None]:
    """Opens the directory of a run: begins the run there, or takes it up. What is there is looked at under the lock.

    Args:
        experiment: What to run; None is what the directory's config says, which must be there then.
        directory: Where to.
        workers: Threads, in place of compute.workers; changes no result.

    Yields:
        The run, to write its epochs; None if it is finished already.
    """
    check_place(directory)
    if experiment is None:
        read_settings(directory)  # before anything is made: there must be a run
    with hold(directory):
        if is_finished(directory):
            tidy(directory)
            yield None
            return
        begun = is_begun(directory)
        if experiment is None or begun:
            experiment = as_begun(experiment, directory)
        engine = Engine(experiment, workers=workers)
        with RunWriter(engine, directory, resume=begun, held=True) as run:
            yield run


def as_begun(experiment: Experiment | None, directory: Path) -> Experiment:
    """Returns an experiment with what was measured when its run began.

    Args:
        experiment: What is run, if the caller has it; without it, what the config names is imported.
        directory: Of the run.
    """
    if experiment is None:
        return read_experiment(directory)
    strategy = read_settings(directory).get("compute", {}).get("strategy", experiment.compute.strategy)
    return experiment.model_copy(update={"compute": experiment.compute.model_copy(update={"strategy": strategy})})


def read_experiment(directory: Path) -> Experiment:
    """Returns the experiment of a run directory, to go on with it.

    Unlike ``reader.read_settings``, this imports what the config names.
    """
    read_settings(directory)
    return Experiment.read(directory / CONFIG)
