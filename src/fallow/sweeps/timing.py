"""What runs take, from little: worlds lived through without learning for a while, and single steps of learning."""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from fallow.experiment import Experiment
from fallow.memory import reuse_freed
from fallow.policies import needs_of
from fallow.simulation.ages import recorded_ages
from fallow.simulation.engine import Engine

if TYPE_CHECKING:
    from fallow.learning.learner import Learner

SOON: Final = 0.3
"""Seconds; work that takes less is timed again, because the first time builds what later ones find."""

TOGETHER: Final = 8
"""Clients whose trainings are timed together, where one alone does not take long."""

NOT_OF_THE_WORLD: Final = ("data", "model", "sgd", "objective", "aggregation", "staleness", "compute", "output")
NOT_OF_A_STEP: Final = ("epochs", "policy", "energy", "battery", "starts_per_epoch", "output")
"""Settings on which what the world does, and what a step of learning takes, do not depend."""

Found = TypeVar("Found")


@dataclass(frozen=True)
class Life:
    """What the world does in an epoch of a run, on average.

    Attributes:
        seconds: Of the world itself.
        trainings: That start.
        new_models: At most one.
    """

    seconds: float
    trainings: float
    new_models: float


@dataclass(frozen=True)
class Steps:
    """What learning takes, in seconds with one thread.

    Attributes:
        setup: Before the first epoch: data, partition, network.
        training: One, of a client with as many samples as the mean.
        probe: Of a new model, at all clients.
        evaluation: On the test set.
        client_evaluation: On all clients' own samples.
    """

    setup: float
    training: float
    probe: float
    evaluation: float
    client_evaluation: float


def world_kind(experiment: Experiment) -> str:
    """Returns a text that is the same for runs whose worlds do about the same without learning.

    Args:
        experiment: Of a run.
    """
    return _without(experiment, NOT_OF_THE_WORLD)


def step_kind(experiment: Experiment) -> str:
    """Returns a text that is the same for runs whose steps of learning take about the same.

    Args:
        experiment: Of a run.
    """
    needs = needs_of(experiment.build("policy"))
    probed = [recorded_ages(experiment.learning, needs)[0] == "features", needs.probe_loss, needs.distance]
    return f"{_without(experiment, NOT_OF_A_STEP)} {probed}"


def live(experiment: Experiment, seconds: float) -> Life:
    """Lives through a run without learning, or through its first epochs, and returns what an epoch has on average.

    What comes after the epochs that were lived through is taken to be as the later half of them.

    Args:
        experiment: Of the run.
        seconds: After which to stop.
    """
    quiet = experiment.output.model_copy(update={"events": False})
    dry = experiment.learning.model_copy(update={"mode": "none"})
    engine = Engine(experiment.model_copy(update={"output": quiet, "learning": dry}))
    begin = time.perf_counter()
    lived = []
    for record in engine:
        lived.append((record.starts, record.uploads > 0))
        if time.perf_counter() - begin > seconds:
            break
    spent, counts = time.perf_counter() - begin, np.array(lived, dtype=np.float64)
    left = experiment.epochs - len(counts)
    trainings, new_models = (counts.sum(axis=0) + left * counts[len(counts) // 2 :].mean(axis=0)) / experiment.epochs
    return Life(spent / len(counts), float(trainings), float(new_models))


def time_loading() -> float:
    """Returns the seconds in which a process loads what learning needs; 0 if this one has it already."""
    begin = time.perf_counter()
    import_module("fallow.simulation.learner_setup")
    return time.perf_counter() - begin


def time_steps(experiment: Experiment) -> Steps:
    """Returns what learning takes, from one training or a few, and one forward pass.

    Args:
        experiment: Of a run that learns.
    """
    reuse_freed()  # as the runs do
    begin = time.perf_counter()
    learner = Engine(experiment, workers=1).learner
    setup = time.perf_counter() - begin
    assert learner is not None  # noqa: S101
    task, sizes = learner.task, learner.data_sizes
    training = _time_trainings(learner, 1)
    if training < SOON:
        training = min(training, _time_trainings(learner, min(TOGETHER, len(sizes))))
    forward = _time_forward(learner)
    probed = int(np.sum(-(-sizes // task.steps))) if task.probes or task.probes_losses else 0
    return Steps(setup, training, probed * forward, len(task.test) * forward, int(sizes.sum()) * forward)


def estimate_seconds(experiment: Experiment, life: Life, steps: Steps | None) -> float:
    """Returns about how long a run takes with one thread.

    Args:
        experiment: Of the run.
        life: What its world does.
        steps: What its learning takes; None for a run that learns nothing.
    """
    epochs, learning = experiment.epochs, experiment.learning
    seconds = epochs * life.seconds
    if steps is None:
        return seconds
    new_models = epochs * life.new_models
    evaluations = min(-(-epochs // learning.eval_every), 1 + new_models)
    every = learning.client_eval_every or epochs
    seconds += steps.setup + epochs * life.trainings * steps.training + (1 + new_models) * steps.probe
    return seconds + evaluations * steps.evaluation + -(-epochs // every) * steps.client_evaluation


def until(
    seconds: float, kinds: Mapping[str, Experiment], find: Callable[[Experiment, float], Found]
) -> dict[str, Found]:
    """Returns what is found for some kinds of runs, as many as the time allows and at least one.

    Args:
        seconds: The time.
        kinds: A run of each kind.
        find: Returns what to find, of a run and its share of the time.
    """
    found: dict[str, Found] = {}
    deadline = time.perf_counter() + seconds
    for kind in _spread(kinds):
        if found and time.perf_counter() > deadline:
            break
        found[kind] = find(kinds[kind], seconds / len(kinds))
    return found


def _spread(kinds: Iterable[str]) -> list[str]:
    """Returns texts in an order in which the first few are from everywhere: a grid has its likes side by side."""
    left = list(kinds)
    return [left[place] for place in np.random.default_rng(0).permutation(len(left))]


def _without(experiment: Experiment, names: Iterable[str]) -> str:
    table = {key: value for key, value in experiment.table().items() if key not in (*names, "seed")}
    if "data" in table:
        table["data"] = {key: value for key, value in table["data"].items() if key != "alpha"}
    return json.dumps(table, sort_keys=True, default=str)


def _time_trainings(learner: "Learner", clients: int) -> float:
    """Returns the seconds of a training: those of a few clients, by their samples."""
    some, sizes = np.arange(clients), learner.data_sizes
    seconds = _timed(lambda: learner.train([(0, some)], 0))
    return seconds * float(sizes.mean() / sizes[some].sum())


def _time_forward(learner: "Learner") -> float:
    """Returns the seconds of a sample in a forward pass."""
    from fallow.learning.evaluation import evaluate_clients

    task = learner.task
    some = np.arange(min(len(task.train), task.network.samples_at_once))
    return _timed(lambda: evaluate_clients(learner.workers, learner.weights, task.train, [some])) / len(some)


def _timed(work: Callable[[], object]) -> float:
    """Returns how long work takes; of two times the shorter, where it does not take long."""
    begin = time.perf_counter()
    work()
    first = time.perf_counter() - begin
    if first > SOON:
        return first
    begin = time.perf_counter()
    work()
    return min(first, time.perf_counter() - begin)
