"""The steps of many clients together, and what they add up to for each of them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fallow.learning.passes import Passes
from fallow.learning.state import Trained
from fallow.learning.training import Training


@dataclass(frozen=True, eq=False)
class StackedStep:
    """One step of the A first clients of a stack; the others have finished their pass.

    Attributes:
        batch: Indices into the training set, shape (A, batch), int64.
        counts: How many samples of each client's batch count, the first ones, shape (A,), int64.
        share: The share of each sample in its client's mean loss, shape (A, batch), float32; None if all are equal.
    """

    batch: NDArray[np.int64]
    counts: NDArray[np.int64]
    share: NDArray[np.float32] | None


@dataclass(frozen=True, eq=False)
class Sums:
    """What C clients add up over their steps. It changes its tensors in place.

    Attributes:
        features: The sums of the samples' features, shape (C, F), float64.
        losses: The mean loss of each step, shape (C, steps), float32; 0 after the end of a client's pass.
        squares: The sum of the samples' squared losses in each step, shape (C, steps), float64.
        counts: The samples of each step, shape (C, steps), int64; 0 after the end of a client's pass.
    """

    features: Tensor
    losses: Tensor
    squares: Tensor
    counts: Tensor

    @classmethod
    def zeros(cls, clients: int, steps: int, feature_size: int, device: torch.device) -> "Sums":
        """Returns the sums of no steps.

        Args:
            clients: C.
            steps: Most steps of a client.
            feature_size: F.
            device: Where the sums are kept.
        """
        return cls(
            torch.zeros(clients, feature_size, dtype=torch.float64, device=device),
            torch.zeros(clients, steps, device=device),
            torch.zeros(clients, steps, dtype=torch.float64, device=device),
            torch.zeros(clients, steps, dtype=torch.int64),
        )

    def add(self, step: int, passes: Passes, counts: NDArray[np.int64]) -> None:
        """Adds what a step of the first clients gave.

        Args:
            step: From 0.
            passes: What it gave.
            counts: The samples of each of these clients, shape (A,), int64.
        """
        active = len(counts)
        self.features[:active] += passes.features
        self.losses[:active, step] = passes.loss
        self.squares[:active, step] = passes.squares
        self.counts[:active, step] = torch.from_numpy(counts)


def are_alike(trainings: list[Training]) -> bool:
    """Returns whether all trainings have as many samples and the same batch size.

    Args:
        trainings: At least one.
    """
    first = trainings[0]
    return all(len(t.order) == len(first.order) and t.batch_size == first.batch_size for t in trainings)


def stacked_steps(trainings: list[Training]) -> Iterator[StackedStep]:
    """Yields the steps of trainings that are done together.

    A batch that is smaller than the largest is filled up with its own first sample, which counts for nothing: a sample
    of another batch could hold numbers that are not finite before it is this client's turn to see them.

    Args:
        trainings: None has more steps than the one before it.
    """
    if are_alike(trainings):
        order = np.stack([training.order for training in trainings])
        for first, last in trainings[0].cuts():
            yield StackedStep(order[:, first:last], np.full(len(order), last - first), None)
        return
    samples = np.array([len(training.order) for training in trainings])
    sizes = np.array([training.batch_size for training in trainings])
    begins = np.arange(-(-samples[0] // sizes[0]))[:, None] * sizes  # of each client's batch, for each step
    counts = np.clip(samples - begins, 0, sizes)
    place = np.arange(sizes.max())
    counted = place < counts[:, :, None]
    inside = np.where(counts > 0, begins + np.cumsum(samples) - samples, 0)[:, :, None] + np.where(counted, place, 0)
    batches = np.concatenate([training.order for training in trainings])[inside]
    shares = (counted / np.maximum(counts, 1)[:, :, None]).astype(np.float32)
    for batch, count, share in zip(batches, counts, shares, strict=True):
        active, width = np.count_nonzero(count), count.max()
        yield StackedStep(batch[:active, :width], count[:active], share[:active, :width])


def results(trainings: list[Training], weights: Tensor, sums: Sums) -> list[Trained]:
    """Returns the result of each training in a stack.

    Args:
        trainings: The trainings.
        weights: Their weights after the last step, shape (C, P), float32.
        sums: What they added up.
    """
    counts, losses, squares = sums.counts, sums.losses.cpu(), sums.squares.cpu()
    samples = counts.sum(1)
    moments = (sums.features.cpu() / samples[:, None]).numpy().astype(np.float32)
    if (counts == counts[0]).all():  # as one product, which may round otherwise in the last bit
        mean_losses = (losses.double() @ counts[0].double() / samples[0]).tolist()
    else:
        mean_losses = ((losses.double() * counts).sum(1) / samples).tolist()
    rms_losses = (squares.sum(1) / samples).sqrt().tolist()
    finite = torch.isfinite(losses).numpy()
    last = np.count_nonzero(counts.numpy(), axis=1) - 1
    finite[np.arange(len(last)), last] &= torch.isfinite(weights.sum(1, dtype=torch.float64)).numpy()
    return [
        Trained(
            training.client,
            training.slot,
            weights[k].numpy().copy(),  # so that one result does not keep the whole stack in memory
            moments[k],
            mean_losses[k],
            None if finite[k].all() else int(np.argmin(finite[k])),
            rms_losses[k],
        )
        for k, training in enumerate(trainings)
    ]
