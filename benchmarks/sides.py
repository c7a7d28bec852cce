"""A round of training by a plain PyTorch loop and by Fallow, and the processes that make it."""

import multiprocessing
import resource
import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from workloads import CLASSES, MEAN, SEED, STD, Workload, warm_up

from fallow.aggregation import Update, aggregate
from fallow.aggregation.received import Received
from fallow.learning.cohort import choose, train_cohort
from fallow.learning.options import SGD, Precision
from fallow.learning.probe import mean_features, probe_batches, shard_sizes
from fallow.learning.samples import samples_from_arrays
from fallow.learning.workers import Workers
from fallow.models.weights import Weights

Round = Callable[[int, Weights, int, int], tuple[Weights, dict[str, float]]]
"""From (round, weights, part, parts) to the part's share of the next weights and seconds by what they went to."""


def plain(load: Workload, threads: int) -> Round:
    torch.set_num_threads(threads)
    images, targets = load.tensors()
    module = load.model.build(load.shape, CLASSES)
    warm_up(module, images, targets)

    def run(number: int, weights: Weights, part: int, parts: int) -> tuple[Weights, dict[str, float]]:
        cohort = load.trainings(number)
        total = sum(len(training.order) for training in cohort)
        begin = time.perf_counter()
        start = torch.from_numpy(weights)
        average = torch.zeros_like(start)
        for training in cohort[part::parts]:
            nn.utils.vector_to_parameters(start.clone(), module.parameters())
            optimiser = torch.optim.SGD(module.parameters(), lr=load.lr)
            for batch in training.batches():
                index = torch.from_numpy(batch)
                optimiser.zero_grad()
                cross_entropy(module(images[index]), targets[index]).backward()
                optimiser.step()
            average += nn.utils.parameters_to_vector(module.parameters()).detach() * (len(training.order) / total)
        return average.numpy(), {"training": time.perf_counter() - begin}

    return run


def ours(load: Workload, precision: Precision, *, probes: bool = True) -> Round:
    images, labels = load.data()
    samples = samples_from_arrays(images, labels, (MEAN,) * load.shape[0], (STD,) * load.shape[0])
    network = load.network(precision)
    workers = Workers(network)
    sgd, rule = SGD(lr=load.lr), Received()
    strategy = choose(network, load.trainings(0))
    first_steps = [replace(training, order=training.order[: training.batch_size]) for training in load.trainings(0)]
    for _ in range(2):  # as warm_up does for the others
        train_cohort(workers, strategy, network.weights(), first_steps, samples, sgd)
    shards = load.shards()
    probed = -(-shard_sizes(shards) // load.steps)
    print(f"  Fallow, {precision}: {strategy}, {workers.count} workers")

    def run(number: int, weights: Weights, part: int, parts: int) -> tuple[Weights, dict[str, float]]:  # noqa: ARG001
        cohort = load.trainings(number)
        clock = [time.perf_counter()]
        trained = train_cohort(workers, strategy, weights, cohort, samples, sgd)
        clock.append(time.perf_counter())
        updates = [Update(own.client, own.slot, own.weights, weights, len(shards[own.client])) for own in trained]
        weights = aggregate(rule, None, weights, updates)[1]
        clock.append(time.perf_counter())
        if probes:
            mean_features(workers, weights, samples, probe_batches(SEED, number, shards, probed))
            clock.append(time.perf_counter())
        return weights, dict(zip(("training", "aggregation", "probe"), np.diff(clock).tolist(), strict=False))

    return run


def serve(pipe: Connection, make: Callable[..., Round], arguments: tuple[object, ...]) -> None:
    """A process of one side: answers each (round, weights, part, parts) with what came of it and its peak memory."""
    run = make(*arguments)
    pipe.send("ready")
    while (question := pipe.recv()) is not None:
        pipe.send((*run(*question), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def start(processes: int, make: Callable[..., Round], *arguments: object) -> list[Connection]:
    """Starts processes that make rounds, and returns a pipe to each when all are ready."""
    context, pipes = multiprocessing.get_context("spawn"), []
    for _ in range(processes):
        here, there = context.Pipe()
        context.Process(target=serve, args=(there, make, arguments), daemon=True).start()
        pipes.append(here)
    assert all(pipe.recv() == "ready" for pipe in pipes)
    return pipes


class Side:
    """One way of doing the work, in processes of its own."""

    def __init__(self, name: str, processes: int, make: Callable[..., Round], *arguments: object) -> None:
        self.name = name
        self.seconds: list[float] = []
        self.split: dict[str, list[float]] = {}
        self.megabytes = 0.0
        self.pipes = start(processes, make, *arguments)

    def round(self, number: int, weights: Weights) -> Weights:
        """Makes one round. What counts is training and averaging; the slowest process decides."""
        for part, pipe in enumerate(self.pipes):
            pipe.send((number, weights, part, len(self.pipes)))
        answers = [pipe.recv() for pipe in self.pipes]
        self.seconds.append(max(split["training"] + split.get("aggregation", 0.0) for _, split, _ in answers))
        for name, value in answers[0][1].items():
            self.split.setdefault(name, []).append(value)
        self.megabytes = sum(megabytes for *_, megabytes in answers)
        total: Weights = np.sum([part for part, *_ in answers], axis=0, dtype=np.float32)
        return total

    def close(self) -> None:
        """Ends the processes."""
        for pipe in self.pipes:
            pipe.send(None)
