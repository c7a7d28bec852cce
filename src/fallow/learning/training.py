"""One local training: its samples in order, and its step."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from fallow.learning.options import SGD
from fallow.learning.statistics import Statistics
from fallow.rng import Purpose, stream


@dataclass(frozen=True, eq=False)
class Training:
    """A training to be done.

    Attributes:
        client: The client that trains.
        slot: The global slot in which it starts.
        order: The client's samples in the order of the pass, indices into the training set, shape (n,), int64.
        batch_size: ⌈n/κ⌉; the last batch may be smaller.
        logit_offset: What the loss adds to the logits, shape (K,), float32; None adds nothing.
        seed: The seed of the run, for the masks of dropout.
        least_batch: The fewest samples of a batch; a last batch of fewer joins the one before it.
        statistics: The client's own running statistics, shape (P − T,), float32; None begins with those of the model.
    """

    client: int
    slot: int
    order: NDArray[np.int64]
    batch_size: int
    logit_offset: NDArray[np.float32] | None = None
    seed: int = 0
    least_batch: int = 1
    statistics: Statistics | None = None

    def dropout_stream(self) -> np.random.Generator:
        """Returns the stream of the masks, a function of (seed, start slot, client)."""
        return stream(self.seed, Purpose.DROPOUT, self.slot, self.client)

    def cuts(self) -> list[tuple[int, int]]:
        """Returns where each batch begins and ends in `order`."""
        edges = [*range(0, len(self.order), self.batch_size), len(self.order)]
        if len(edges) > 2 and edges[-1] - edges[-2] < self.least_batch:
            del edges[-2]
        return list(pairwise(edges))

    def batches(self) -> list[NDArray[np.int64]]:
        """Returns the batches of the pass, indices into the training set, shape (batch_size,), int64.

        There are at most κ batches; fewer where rounding the batch size up uses all samples earlier.
        """
        return [self.order[first:last] for first, last in self.cuts()]


def plan_training(
    seed: int,
    client: int,
    slot: int,
    shard: NDArray[np.int64],
    steps: int,
    logit_offset: NDArray[np.float32] | None = None,
    least_batch: int = 1,
    statistics: Statistics | None = None,
) -> Training:
    """Returns the training that a client starts in a slot: one pass over its samples in random order (reading 9).

    The order is a function of (seed, start slot, client): a client may start twice in an epoch, but not in a slot.

    Args:
        seed: The seed of the run.
        client: The client.
        slot: The global slot.
        shard: The client's samples, indices into the training set, shape (n,), int64.
        steps: κ, the most batches; with fewer samples than that, each sample is a batch.
        logit_offset: What the loss adds to the logits, shape (K,), float32; None adds nothing.
        least_batch: The fewest samples of a batch; batch normalisation needs 2.
        statistics: The client's own running statistics, shape (P − T,), float32; None begins with those of the model.

    Examples:
        >>> training = plan_training(seed=0, client=3, slot=7, shard=np.arange(10), steps=4)
        >>> [len(batch) for batch in training.batches()]
        [3, 3, 3, 1]
        >>> training = plan_training(seed=0, client=3, slot=7, shard=np.arange(10), steps=4, least_batch=2)
        >>> [len(batch) for batch in training.batches()]
        [3, 3, 4]
    """
    order = shard[stream(seed, Purpose.BATCHES, slot, client).permutation(len(shard))]
    batch_size = max(-(-len(shard) // steps), least_batch)
    return Training(client, slot, order, batch_size, logit_offset, seed, least_batch, statistics)


def sgd_step(sgd: SGD, weights: Tensor, gradient: Tensor, velocity: Tensor | None, start: Tensor) -> Tensor | None:
    """Moves `weights` one step, in place, and returns the velocity for the next step.

    Args:
        sgd: The options of a step.
        weights: Any shape, float32.
        gradient: The gradient of the loss, the same shape, float32.
        velocity: What the previous step returned; it is overwritten. None before the first step.
        start: The weights that the training began with, the same shape, float32.
    """
    if sgd.weight_decay:
        gradient = gradient.add(weights, alpha=sgd.weight_decay)
    if sgd.proximal:
        gradient = gradient.add(weights - start, alpha=sgd.proximal)
    if sgd.momentum:
        velocity = gradient.clone() if velocity is None else velocity.mul_(sgd.momentum).add_(gradient)
        gradient = velocity
    weights.add_(gradient, alpha=-sgd.lr)
    return velocity
