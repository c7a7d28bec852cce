"""A cohort: all trainings that start from the same weights, by the faster of two ways.

*Spread* gives each worker one client at a time; *stacked* trains many clients together, step by step. Their results
differ in the last bits, so the choice is part of a run: it is made once and recorded with it.
"""

import time
from collections import defaultdict
from dataclasses import replace

import numpy as np

from fallow.learning.local import train
from fallow.learning.network import Network
from fallow.learning.options import SGD, Strategy
from fallow.learning.ragged import ragged_stacks
from fallow.learning.samples import Samples
from fallow.learning.stacked import train_stacked
from fallow.learning.stacked_state import train_with_state
from fallow.learning.state import Trained
from fallow.learning.training import Training
from fallow.learning.workers import Workers
from fallow.models.weights import Weights

STACK = 50
"""Most clients in one stack. With fewer, threads wait for each other between operations; with more, for memory."""

WORTH_HALVING = 16
"""The number of clients from which a single stack is cut in two, so that two workers have work."""

LONG_STEP_SECONDS = 0.01
"""A step of one client that takes longer spends its time on arithmetic, not on calling operations."""


def train_cohort(
    workers: Workers, strategy: Strategy, weights: Weights, trainings: list[Training], samples: Samples, sgd: SGD
) -> list[Trained]:
    """Returns the result of each training, in the order given, the same for any number of workers.

    Args:
        workers: The threads that compute.
        strategy: "spread" or "stacked"; see ``choose``.
        weights: w(t), where all trainings start, shape (P,), float32.
        trainings: The cohort.
        samples: The training set.
        sgd: The options of a step.
    """
    whole = workers.network.whole_batches
    parts = [[k] for k in range(len(trainings))] if strategy == "spread" else stacks(trainings, whole=whole)

    def compute(network: Network, part: list[int]) -> list[Trained]:
        chosen = [trainings[k] for k in part]
        if strategy == "spread":
            return [train(network, weights, chosen[0], samples, sgd)]
        return (train_with_state if whole else train_stacked)(network, weights, chosen, samples, sgd)

    # The longest work first, so that no worker is left alone with it at the end.
    parts.sort(key=lambda part: -sum(len(trainings[k].order) for k in part))
    results = workers.map(compute, parts)
    by_place = {
        k: trained for part, result in zip(parts, results, strict=True) for k, trained in zip(part, result, strict=True)
    }
    return [by_place[k] for k in range(len(trainings))]


def stacks(trainings: list[Training], *, whole: bool = False) -> list[list[int]]:
    """Returns a cohort cut into stacks.

    Where all clients have as many samples, a stack has clients with the same batch size. Where they have not, batches
    are cut into lanes of one size and filled up, and two workers are done as soon as possible (``ragged_stacks``).
    The cut depends on the cohort alone, never on the number of workers, so the results do not depend on it either.

    Args:
        trainings: The cohort.
        whole: Whether no batch can be filled up, so that the clients of a stack must be alike in both.

    Returns:
        For each stack, indices into `trainings`, those with more steps first; every index occurs once.
    """
    if len({len(training.order) for training in trainings}) > 1 and not whole:
        sizes = np.array([len(training.order) for training in trainings])
        workers = 2 if len(trainings) >= WORTH_HALVING else 1
        return ragged_stacks(sizes, np.array([training.batch_size for training in trainings]), workers)
    alike: dict[tuple[int, int], list[int]] = defaultdict(list)
    for k, training in enumerate(trainings):
        alike[len(training.order), training.batch_size].append(k)
    parts = []
    for places in alike.values():
        count = max(-(-len(places) // STACK), 2 if len(places) >= WORTH_HALVING else 1)
        parts += [places[k * len(places) // count : (k + 1) * len(places) // count] for k in range(count)]
    return parts


def choose(workers: Workers, weights: Weights, trainings: list[Training], samples: Samples, sgd: SGD) -> Strategy:
    """Returns the faster strategy, after one step of the given trainings with each.

    Timing is not repeatable, so call this once, before the first epoch, and record the result with the run. If a step
    of one client takes long, the time goes into arithmetic, which stacking does not make faster. Then stacking is not
    tried, because it needs much more memory for a large network.

    Args:
        workers: The threads that compute.
        weights: w(t), shape (P,), float32.
        trainings: A few trainings to measure.
        samples: The training set.
        sgd: The options of a step.
    """
    step = [replace(training, order=training.order[: training.batch_size]) for training in trainings]
    seconds: dict[Strategy, float] = {}
    for strategy in ("spread", "stacked"):
        for _ in range(2):  # the first time warms up, and is overwritten
            begin = time.perf_counter()
            train_cohort(workers, strategy, weights, step, samples, sgd)
            seconds[strategy] = time.perf_counter() - begin
        if seconds["spread"] * workers.count > LONG_STEP_SECONDS * len(step):
            return "spread"
    return min(seconds, key=lambda strategy: seconds[strategy])
