"""What a client pays to know how far the new model is: in features (Eq. 5), and in parameters (Eq. 2).

One client, one thread, the paper's CNN on a probe batch of 15 CIFAR-sized images (300 samples in κ = 20 batches).
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch

from fallow.learning.distances import distances, parameter_distances
from fallow.learning.network import build_network
from fallow.learning.operations import forward_flops
from fallow.models import PaperCNN

BATCH, SHAPE, CLASSES = 15, (3, 32, 32), 10


def best(call: Callable[[], object], repeats: int) -> float:
    """Returns the least seconds of a call."""
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def measure(width: float, repeats: int) -> None:
    """Prints both distances for the paper's CNN of one width."""
    network = build_network(PaperCNN(width=width), SHAPE, CLASSES, seed=1)
    weights = network.weights()
    local = [weights + np.float32(0.01)]
    images = torch.rand(BATCH, *SHAPE, generator=torch.Generator().manual_seed(0))
    moment = np.zeros((1, network.feature_size), dtype=np.float32)

    def features() -> object:
        with torch.no_grad():
            mean = network.forward(images)[1].mean(0, keepdim=True)
        return distances(mean.numpy(), moment)

    def parameters() -> object:
        return parameter_distances(weights, local)

    rows = (
        ("features", features, BATCH * forward_flops(network), network.feature_size),
        ("parameters", parameters, 3 * weights.size, weights.size),  # subtract, square, add
    )
    for name, call, operations, kept in rows:
        print(f"{width:6g} {name:>12} {operations:14,} {best(call, repeats):10.6f} {kept:13,}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=200)
    repeats = parser.parse_args().repeats
    torch.set_num_threads(1)
    print(f"{'width':>6} {'distance of':>12} {'operations':>14} {'seconds':>10} {'numbers kept':>13}")
    for width in (0.5, 1.0):
        measure(width, repeats)


if __name__ == "__main__":
    main()
