"""A cohort: all trainings that start from the same weights, by whichever of two ways is faster.

*Spread* gives each worker one client at a time; *stacked* moves many clients in lockstep. Their results differ in
the last bits, so the choice is part of a run: it is made once and recorded with it.
"""

import time
from collections import defaultdict
from dataclasses import replace

from fallow.learning.local import train
from fallow.learning.network import Network
from fallow.learning.options import SGD, Strategy
from fallow.learning.samples import Samples
from fallow.learning.stacked import train_stacked
from fallow.learning.state import Trained
from fallow.learning.training import Training
from fallow.learning.workers import Workers
from fallow.models.weights import Weights

STACK = 50
"""Most clients in one stack. With fewer, threads wait for each other between operations; with more, for memory."""

WORTH_HALVING = 16
"""Clients from which even a single stack is cut in two, so that two workers have something to do."""

LONG_STEP_SECONDS = 0.01
"""A step of one client that takes longer spends it on arithmetic."""


def train_cohort(
    workers: Workers, strategy: Strategy, weights: Weights, trainings: list[Training], samples: Samples, sgd: SGD
) -> list[Trained]:
    """Returns what came of each training, in the order given, the same for any number of workers.

    Args:
        workers: Who computes.
        strategy: "spread" or "stacked"; see ``choose``.
        weights: w(t), which all of them start from.
        trainings: The cohort.
        samples: The training set.
        sgd: How a step is made.
    """
    parts = [[k] for k in range(len(trainings))] if strategy == "spread" else stacks(trainings)

    def compute(network: Network, part: list[int]) -> list[Trained]:
        own = [trainings[k] for k in part]
        if strategy == "spread":
            return [train(network, weights, own[0], samples, sgd)]
        return train_stacked(network, weights, own, samples, sgd)

    results = workers.map(compute, parts)
    by_place = {
        k: trained for part, own in zip(parts, results, strict=True) for k, trained in zip(part, own, strict=True)
    }
    return [by_place[k] for k in range(len(trainings))]


def stacks(trainings: list[Training]) -> list[list[int]]:
    """Cuts a cohort into stacks of clients with as many samples and batches as each other.

    The cut depends on the cohort alone, never on the number of workers, so that results do not either.

    Returns:
        Places in `trainings`; every place once.
    """
    alike: dict[tuple[int, int], list[int]] = defaultdict(list)
    for k, training in enumerate(trainings):
        alike[len(training.order), training.batch_size].append(k)
    parts = []
    for places in alike.values():
        count = max(-(-len(places) // STACK), 2 if len(places) >= WORTH_HALVING else 1)
        parts += [places[k * len(places) // count : (k + 1) * len(places) // count] for k in range(count)]
    return parts


def choose(workers: Workers, weights: Weights, trainings: list[Training], samples: Samples, sgd: SGD) -> Strategy:
    """Measures one step of the given trainings both ways and returns the faster.

    Timing is not repeatable, so ask once, before the first epoch, and record the answer with the run. Where a step of
    one client takes long, calling operations can't be what it takes: then stacking, which needs much more memory
    for a large network, is not tried.
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
