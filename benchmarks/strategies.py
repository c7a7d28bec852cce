"""Both ways of training a cohort, by the arithmetic of a step: what `compute.strategy = "auto"` rests on.

Three steps of 2, 10 and 40 clients, random inputs, on all processors. Above `LARGE_BATCH_FLOPS` operations in the
forward pass of a batch, "auto" trains clients side by side.
"""

import argparse
import time
from typing import get_args

import numpy as np
from workloads import CLASSES, MEAN, SEED, STD, PaddedCNN

from fallow.learning.cohort import LARGE_BATCH_FLOPS, choose, train_cohort
from fallow.learning.network import Network, build_network
from fallow.learning.operations import forward_flops
from fallow.learning.options import SGD, Precision, Strategy
from fallow.learning.samples import samples_from_arrays
from fallow.learning.training import plan_training
from fallow.learning.workers import Workers
from fallow.models import MLP, Model, PaperCNN, SignalCNN, SmallCNN

NETWORKS: dict[str, tuple[Model, tuple[int, ...]]] = {
    "mlp, 64 values": (MLP(), (64,)),
    "mlp 256-128, 28×28": (MLP(hidden=(256, 128)), (1, 28, 28)),
    "small-cnn, 8×8": (SmallCNN(), (1, 8, 8)),
    "padded, 8×8": (PaddedCNN(), (1, 8, 8)),
    "small-cnn, 28×28": (SmallCNN(), (1, 28, 28)),
    "small-cnn, 32×32": (SmallCNN(), (3, 32, 32)),
    "signal-cnn, 3×128": (SignalCNN(), (3, 128)),
    "paper-cnn, 1/8": (PaperCNN(width=0.125), (3, 32, 32)),
    "paper-cnn, 1/4": (PaperCNN(width=0.25), (3, 32, 32)),
    "paper-cnn, 1/2": (PaperCNN(width=0.5), (3, 32, 32)),
}
BATCHES, CLIENTS, STEPS = (5, 15, 60), (2, 10, 40), 3
MOST_FLOPS = 6e9
"""Of the forward passes of a step of all clients: more take long, and are far from where the two ways meet."""


def seconds(network: Network, clients: int, batch: int, repeats: int) -> dict[Strategy, float]:
    """Returns the least seconds of each way."""
    rng, each = np.random.default_rng(0), batch * STEPS
    images = rng.integers(0, 256, (clients * each, *network.input_shape), dtype=np.uint8)
    channels = network.input_shape[0]
    samples = samples_from_arrays(images, rng.integers(0, CLASSES, len(images)), (MEAN,) * channels, (STD,) * channels)
    shards = np.split(np.arange(clients * each), clients)
    cohort = [plan_training(SEED, client, 0, shard, STEPS) for client, shard in enumerate(shards)]
    weights, found = network.weights(), {}
    with Workers(network) as workers:
        for strategy in get_args(Strategy):
            found[strategy] = float("inf")
            for _ in range(repeats):
                begin = time.perf_counter()
                train_cohort(workers, strategy, weights, cohort, samples, SGD(lr=1e-4))
                found[strategy] = min(found[strategy], time.perf_counter() - begin)
    return found


def measure(name: str, precision: Precision, repeats: int) -> None:
    """Prints a row for each size of a batch."""
    model, shape = NETWORKS[name]
    network = build_network(model, shape, CLASSES, SEED, precision=precision)
    for batch in BATCHES:
        flops = forward_flops(network) * batch
        ratios = []
        for clients in CLIENTS:
            if flops * clients > MOST_FLOPS:
                ratios.append("–")
                continue
            found = seconds(network, clients, batch, repeats)
            ratios.append(f"{found['stacked'] / found['spread']:.2f}")
        chosen = choose(network, [plan_training(SEED, 0, 0, np.arange(batch * STEPS), STEPS)])
        print(f"{name:>20} {batch:6} {flops / 1e6:9.1f}" + "".join(f"{ratio:>12}" for ratio in ratios) + f"  {chosen}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--precision", choices=get_args(Precision), default="fp32")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    print(f"Seconds stacked / seconds spread; auto spreads above {LARGE_BATCH_FLOPS / 1e6:g} million operations.")
    print(f"{'network':>20} {'batch':>6} {'million':>9}" + "".join(f"{f'{n} clients':>12}" for n in CLIENTS) + "  auto")
    for name in NETWORKS:
        measure(name, given.precision, given.repeats)


if __name__ == "__main__":
    main()
