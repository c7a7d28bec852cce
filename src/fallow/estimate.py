"""How long runs will take: their trainings are counted without learning, and one of each kind of work is timed."""

import time
from collections.abc import Callable

import numpy as np

from fallow.config import Experiment
from fallow.engine import Engine


def estimate_seconds(experiment: Experiment) -> float:
    """Returns about how long a run takes with one thread.

    The run is lived through without learning, which takes a second at most for the paper's numbers and counts its
    trainings, its new models (each is probed) and its evaluations. Then one of each is timed.
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
    training = _timed(lambda: learner.train([(0, some)], 0)) / some.size
    probe, evaluation = _timed(lambda: learner.distances(0)), _timed(learner.evaluate)
    new_models = sum(record.uploads > 0 for record in records)
    evaluations = -(-experiment.epochs // experiment.learning.eval_every)
    trainings = sum(record.starts for record in records)
    return seconds + trainings * training + new_models * probe + evaluations * evaluation


def _timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
