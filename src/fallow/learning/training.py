"""One local training: what it is told, what comes of it, and its step."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from fallow.learning.options import SGD
from fallow.rng import Purpose, stream


@dataclass(frozen=True, eq=False)
class Training:
    """A training to be done.

    Attributes:
        client: Whose.
        slot: The global slot it started in.
        order: Its samples in the order of the pass, indices into the training set, shape (n,), int64.
        batch_size: ⌈n/κ⌉; the last batch may be smaller.
    """

    client: int
    slot: int
    order: NDArray[np.int64]
    batch_size: int

    def batches(self) -> list[NDArray[np.int64]]:
        """Returns the batches, at most κ of them: rounding up can use the samples up before the last slots."""
        return [self.order[first : first + self.batch_size] for first in range(0, len(self.order), self.batch_size)]


def plan_training(seed: int, client: int, slot: int, shard: NDArray[np.int64], steps: int) -> Training:
    """Returns the training that a client starts in a slot: one pass over its samples in random order (reading 9).

    The order is a function of (seed, start slot, client): a client may start twice in an epoch, never in a slot.

    Args:
        seed: Of the run.
        client: Who.
        slot: The global slot.
        shard: The client's samples, indices into the training set, shape (n,), int64.
        steps: κ, at most as many batches; with fewer samples than that, each is a batch.
    """
    order = shard[stream(seed, Purpose.BATCHES, slot, client).permutation(len(shard))]
    return Training(client, slot, order, -(-len(shard) // steps))


def sgd_step(sgd: SGD, weights: Tensor, gradient: Tensor, velocity: Tensor | None, start: Tensor) -> Tensor | None:
    """Moves `weights` one step, in place, and returns the velocity for the next step.

    Args:
        sgd: The options.
        weights: Any shape, float32.
        gradient: Of the loss, the same shape.
        velocity: What the last step returned, to be reused; None before the first.
        start: The weights that the training began with.
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
