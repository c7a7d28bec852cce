"""How long runs will take: their trainings are counted without learning, and one of each kind of work is timed."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fallow.experiment import Experiment
from fallow.processors import available_processors
from fallow.runs.layout import is_finished
from fallow.simulation.engine import Engine
from fallow.sweeps.checks import check_directories
from fallow.sweeps.grid import PlannedRun


@dataclass(frozen=True)
class Forecast:
    """What many runs will take.

    Attributes:
        runs: How many there are.
        finished: How many of them need nothing more.
        at_once: How many of the others run at a time.
        seconds: About how long they take, all in all.
    """

    runs: int
    finished: int
    at_once: int
    seconds: float


def forecast(runs: Sequence[PlannedRun], workers: int = 0) -> Forecast:
    """Returns about how long runs take. Of runs that differ only by their seed, one is timed.

    Args:
        runs: Of which some may be finished.
        workers: How many run at a time; 0 is one for each processor.

    Raises:
        RunDirectoryError: If a run can't be carried out in its directory.
    """
    check_directories(runs)
    left = [run for run in runs if not is_finished(run.directory)]
    at_once = min(workers or available_processors(), max(len(left), 1))
    kinds: dict[str, list[PlannedRun]] = {}
    for run in left:
        kinds.setdefault(run.experiment.model_copy(update={"seed": 0}).to_toml(), []).append(run)
    seconds = sum(estimate_seconds(alike[0].experiment) * len(alike) for alike in kinds.values()) / at_once
    return Forecast(len(runs), len(runs) - len(left), at_once, seconds)


def estimate_seconds(experiment: Experiment) -> float:
    """Returns about how long a run takes with one thread.

    The run is lived through without learning, which takes a second at most for the paper's numbers and counts its
    trainings, its new models (each is probed, where ages or the policy need it) and its evaluations. Then one of each
    is timed.

    Args:
        experiment: Of the run.
    """
    quiet = experiment.output.model_copy(update={"events": False})
    dry = experiment.learning.model_copy(update={"mode": "none"})
    world = Engine(experiment.model_copy(update={"output": quiet, "learning": dry}))
    begin = time.perf_counter()
    records = list(world)
    seconds = time.perf_counter() - begin
    if experiment.learning.mode == "none":
        return seconds
    learner = Engine(experiment, workers=1).learner
    assert learner is not None  # noqa: S101
    some = np.arange(min(experiment.clients, 8))
    of_all = learner.data_sizes.mean() / learner.data_sizes[some].sum()  # a training takes as long as its samples do
    training = _timed(lambda: learner.train([(0, some)], 0)) * float(of_all)
    probe = _timed(lambda: learner.distances(0)) if learner.task.probes else 0.0
    evaluation = _timed(learner.evaluate)
    new_models = sum(record.uploads > 0 for record in records)
    evaluations = -(-experiment.epochs // experiment.learning.eval_every)
    trainings = sum(record.starts for record in records)
    of_clients = _timed(learner.evaluate_clients)
    every = experiment.learning.client_eval_every or experiment.epochs
    seconds += -(-experiment.epochs // every) * of_clients
    return seconds + trainings * training + new_models * probe + evaluations * evaluation


def _timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
