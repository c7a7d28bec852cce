"""A cohort: all trainings that start from the same weights, by one of two ways.

*Spread* gives each worker one client at a time; *stacked* trains many clients together, step by step. Their results
differ in the last bits, so the choice is part of a run: it follows from the network and the data alone, and is recorded
with the run.
"""

from collections import defaultdict

import numpy as np

from fallow.learning.local import train
from fallow.learning.network import Network
from fallow.learning.operations import forward_flops
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

LARGE_BATCH_FLOPS = 30_000_000
"""A step with more arithmetic in the forward pass of its batch spends its time there, not on calling operations."""


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


def choose(network: Network, trainings: list[Training]) -> Strategy:
    """Returns the strategy for trainings of such a size.

    Arithmetic is counted, not timed, so the same experiment takes the same way each time and on every machine. Stacking
    saves calls; a large step spends its time elsewhere, and stacking it would only need more memory. Near the limit the
    other way can be the faster one, by the network and by how many train at once (``benchmarks/strategies.py``).

    Args:
        network: What is trained.
        trainings: Some of the run's, for the sizes of their batches.

    Examples:
        >>> from fallow.learning.network import build_network
        >>> from fallow.learning.training import plan_training
        >>> from fallow.models import SmallCNN
        >>> training = plan_training(seed=0, client=0, slot=0, shard=np.arange(300), steps=20)
        >>> [choose(build_network(SmallCNN(), shape, 10, seed=0), [training]) for shape in ((1, 8, 8), (3, 32, 32))]
        ['stacked', 'spread']
    """
    samples = float(np.mean([training.batch_size for training in trainings]))
    return "spread" if forward_flops(network) * samples > LARGE_BATCH_FLOPS else "stacked"
