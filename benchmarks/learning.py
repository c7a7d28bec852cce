"""Training of cohorts against a plain PyTorch loop: same data, same first weights, same batches, same end.

The plain loop is what one would write first: one network, weights loaded, SGD steps, a weighted average; NCHW and
float32. It gets its images normalised beforehand and the better of two set-ups: one process with all threads, or a
process for each processor. All sides take turns, so that a busy machine disturbs them alike.
"""

import argparse
import multiprocessing
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from statistics import median

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import cross_entropy

from fallow.aggregation import Update, aggregate
from fallow.aggregation.received import Received
from fallow.data.sizes import draw_sizes
from fallow.learning.cohort import choose, train_cohort
from fallow.learning.network import Network, build_network
from fallow.learning.options import SGD, Precision
from fallow.learning.probe import mean_features, probe_batches, shard_sizes
from fallow.learning.samples import samples_from_arrays
from fallow.learning.training import Training, plan_training
from fallow.learning.workers import Workers
from fallow.models import Model, PaperCNN, SmallCNN
from fallow.models.weights import Weights
from fallow.processors import available_processors

SEED, CLASSES = 1, 10
MEAN, STD = 0.5, 0.25


@dataclass(frozen=True)
class Workload:
    """What a round of training is.

    The learning rates are small: on random pixels larger ones make the paper's network chaotic, and then float32
    parts from float64 by percents within a training, whoever computes it.
    """

    title: str
    model: Model
    shape: tuple[int, int, int]
    clients: int
    samples_each: int
    steps: int
    clients_a_round: int
    lr: float
    spread: float = 0.0

    def data(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Random pixels and labels: the arithmetic is that of any other data."""
        rng = np.random.default_rng(0)
        total = self.clients * self.samples_each
        images = rng.integers(0, 256, (total, *self.shape), dtype=np.uint8)
        return images, rng.integers(0, CLASSES, total)

    def network(self, precision: Precision = "fp32") -> Network:
        """The network with its first weights."""
        return build_network(self.model, self.shape, CLASSES, SEED, precision=precision)

    def trainings(self, number: int) -> list[Training]:
        """The cohort of one round."""
        chosen = np.random.default_rng(number).permutation(self.clients)[: self.clients_a_round]
        shards = self.shards()
        return [plan_training(SEED, client, number, shards[client], self.steps) for client in chosen.tolist()]

    def shards(self) -> list[NDArray[np.int64]]:
        """The samples of each client: as many for all, or more and fewer with the same mean."""
        sizes = draw_sizes("lognormal", self.clients, self.samples_each, SEED, self.spread)
        return np.split(np.arange(sizes.sum()), np.cumsum(sizes)[:-1])


@dataclass(frozen=True)
class PaddedCNN:
    """The small network with padding: 8 and 16 channels on all of the 8×8 pixels, four times the arithmetic."""

    def build(self, input_shape: tuple[int, ...], classes: int) -> nn.Module:
        """Returns the network."""
        channels, height, width = input_shape
        features = [nn.Conv2d(channels, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU()]
        units = 16 * (height // 2) * (width // 2)
        classifier = [nn.MaxPool2d(2), nn.Flatten(), nn.Linear(units, 32), nn.ReLU(), nn.Linear(32, classes)]
        return nn.Sequential(*features, *classifier)


WORKLOADS = {
    "a": Workload("A: the paper's network, 10 of 100 clients", PaperCNN(), (3, 32, 32), 100, 300, 20, 10, 3e-5),
    "b": Workload("B: small-cnn on 8×8 pixels, 100 of 1,000 clients", SmallCNN(), (1, 8, 8), 1000, 40, 4, 100, 0.01),
    "p": Workload("P: as B, with padding", PaddedCNN(), (1, 8, 8), 1000, 40, 4, 100, 0.01),
    "c": Workload("C: as B, with 40 samples on average (σ = 1)", SmallCNN(), (1, 8, 8), 1000, 40, 4, 100, 0.01, 1.0),
}

Round = Callable[[int, Weights, int, int], tuple[Weights, dict[str, float]]]
"""From (round, weights, part, parts) to the part's share of the next weights and seconds by what they went to."""


def plain(load: Workload, threads: int) -> Round:
    torch.set_num_threads(threads)
    raw, labels = load.data()
    images = (torch.from_numpy(raw).float() / 255 - MEAN) / STD
    targets = torch.from_numpy(labels)
    module = load.model.build(load.shape, CLASSES)
    for _ in range(3):  # warms up, as the choice of a strategy does for the other side
        cross_entropy(module(images[:15]), targets[:15]).backward()

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


def ours(load: Workload, precision: Precision) -> Round:
    images, labels = load.data()
    samples = samples_from_arrays(images, labels, (MEAN,) * load.shape[0], (STD,) * load.shape[0])
    network = load.network(precision)
    workers = Workers(network)
    sgd, rule = SGD(lr=load.lr), Received()
    strategy = choose(workers, network.weights(), load.trainings(0), samples, sgd)
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
        mean_features(workers, weights, samples, probe_batches(SEED, number, shards, probed))
        clock.append(time.perf_counter())
        return weights, dict(zip(("training", "aggregation", "probe"), np.diff(clock).tolist(), strict=True))

    return run


def serve(pipe: Connection, make: Callable[..., Round], arguments: tuple[object, ...]) -> None:
    """A process of one side: answers each (round, weights, part, parts) with what came of it and its peak memory."""
    run = make(*arguments)
    pipe.send("ready")
    while (question := pipe.recv()) is not None:
        pipe.send((*run(*question), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


class Side:
    """One way of doing the work, in processes of its own."""

    def __init__(self, name: str, processes: int, make: Callable[..., Round], *arguments: object) -> None:
        self.name = name
        self.seconds: list[float] = []
        self.split: dict[str, list[float]] = {}
        self.megabytes = 0.0
        context = multiprocessing.get_context("spawn")
        self.pipes = []
        for _ in range(processes):
            here, there = context.Pipe()
            context.Process(target=serve, args=(there, make, arguments), daemon=True).start()
            assert here.recv() == "ready"
            self.pipes.append(here)

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


def matrix_rate() -> float:
    """Multiplications and additions a second of a large float32 matrix product on all processors."""
    torch.set_num_threads(available_processors())
    a, best = torch.randn(2048, 2048), float("inf")
    for _ in range(8):
        begin = time.perf_counter()
        a @ a
        best = min(best, time.perf_counter() - begin)
    return float(2 * 2048**3 / best)


def operations(load: Workload) -> float:
    """Multiplications and additions of one round: forward, and twice that backward but for the first layer's input."""
    counts: list[float] = []

    def count(layer: nn.Module, _inputs: object, output: torch.Tensor) -> None:
        weight = layer.weight
        assert isinstance(weight, torch.Tensor)
        counts.append(2.0 * weight[0].numel() * output[0].numel())

    module = load.model.build(load.shape, CLASSES)
    for layer in module.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            layer.register_forward_hook(count)
    module(torch.zeros(1, *load.shape))
    return (3 * sum(counts) - counts[0]) * load.clients_a_round * load.samples_each


def measure(load: Workload, rounds: int, with_bf16: bool) -> None:
    print(f"\n{load.title}: batches of {-(-load.samples_each // load.steps)} on average, {load.steps} steps")
    processors = available_processors()
    sides = [
        Side(f"plain, 1 process of {processors} threads", 1, plain, load, processors),
        Side(f"plain, {processors} processes of 1 thread", processors, plain, load, 1),
        Side("Fallow, fp32", 1, ours, load, "fp32"),
    ]
    if with_bf16:
        sides.append(Side("Fallow, bf16", 1, ours, load, "bf16"))
    start = load.network().weights()
    weights = {side.name: start for side in sides}
    for number in range(rounds):
        for side in sides:
            weights[side.name] = side.round(number, weights[side.name])
    for side in sides:
        side.close()
    report(load, sides, {side.name: weights[side.name] - start for side in sides})


def report(load: Workload, sides: list[Side], moves: dict[str, Weights]) -> None:
    best = min(sides[:2], key=lambda side: min(side.seconds))
    moved, work, rate = moves[best.name], operations(load), matrix_rate()
    print(f"  a large float32 matrix product runs at {rate / 1e9:.0f} GFLOP/s; a round is {work / 1e9:.1f} GFLOP")
    for side in sides:
        away = float(np.linalg.norm(moves[side.name] - moved) / np.linalg.norm(moved))
        split = ", ".join(f"{name} {min(values):.4f}" for name, values in side.split.items())
        print(
            f"  {side.name:34} {min(side.seconds):8.4f} s a round (median {median(side.seconds):.4f}), "
            f"{min(best.seconds) / min(side.seconds):5.2f} × plain (median "
            f"{median(b / s for b, s in zip(best.seconds, side.seconds, strict=True)):.2f}), "
            f"{work / min(side.seconds) / rate:4.0%} of the matrix rate, {side.megabytes:.0f} MB"
        )
        print(f"  {'':34} seconds: {split}; its move differs from the plain loop's by {away:.1e} of it")
        assert away < (1e-2 if "bf16" not in side.name else 0.2), f"{side.name} ends in other weights"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workload", choices=[*WORKLOADS, "all"], default="all")
    parser.add_argument("--rounds", type=int, default=0, help="rounds; 0 is 3 of A and 10 of the others")
    parser.add_argument("--bf16", action="store_true", help="measure bfloat16 too; slow without hardware for it")
    options = parser.parse_args()
    for name, load in WORKLOADS.items():
        if options.workload in (name, "all"):
            measure(load, options.rounds or (3 if name == "a" else 10), options.bf16)


if __name__ == "__main__":
    main()
