"""Training of cohorts against a plain PyTorch loop: same data, same first weights, same batches, same end.

The plain loop is what one would write first: one network, weights loaded, SGD steps, a weighted average; NCHW and
float32. It gets its images normalised beforehand and the better of two set-ups: one process with all threads, or a
process for each processor. All sides take turns, so that a busy machine disturbs them alike.
"""

import argparse
import time
from statistics import median

import numpy as np
import torch
from sides import Side, ours, plain
from torch import nn
from workloads import CLASSES, WORKLOADS, Workload

from fallow.models.weights import Weights
from fallow.processors import available_processors


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
