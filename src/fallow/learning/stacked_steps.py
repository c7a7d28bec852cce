"""The steps of many clients together, and what they add up to for each of them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fallow.learning.passes import Passes
from fallow.learning.ragged import LANE_DIGITS, WIDTH_DIGITS, rounded_up, stack_width
from fallow.learning.state import Trained
from fallow.learning.training import Training


@dataclass(frozen=True, eq=False)
class StackedStep:
    """One step of the A first clients of a stack; the others have finished their pass.

    Each client has a lane, in the order of the clients. Then come the second lanes of those whose batch needs them, the
    third lanes, and so on; then perhaps lanes that only fill up the stack, and belong to the first client.

    Attributes:
        batch: Indices into the training set, shape (lanes, width), int64.
        counts: How many samples of each client's batch count, shape (A,), int64.
        share: The share of each sample in its client's mean loss, shape (lanes, width), float32; 0 for one that counts
            for nothing. None if all are equal, and each client has one lane.
        further: The clients that have a second lane, those that have a third one, …, each of int64.
    """

    batch: NDArray[np.int64]
    counts: NDArray[np.int64]
    share: NDArray[np.float32] | None
    further: list[NDArray[np.int64]]

    @property
    def owners(self) -> NDArray[np.int64]:
        """The clients of the lanes after the first A, shape (lanes − A,), int64."""
        owners = np.zeros(len(self.batch) - len(self.counts), dtype=np.int64)
        owned = np.concatenate([owners[:0], *self.further])
        owners[: len(owned)] = owned
        return owners


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

    A lane with too few samples is filled up with its own first one, which counts for nothing: a sample of another batch
    could hold numbers that are not finite before it is this client's turn to see them.

    Args:
        trainings: None has more steps than the one before it.
    """
    if are_alike(trainings):
        order = np.stack([training.order for training in trainings])
        for first, last in trainings[0].cuts():
            yield StackedStep(order[:, first:last], np.full(len(order), last - first), None, [])
        return
    yield from _ragged_steps(trainings)


def _ragged_steps(trainings: list[Training]) -> Iterator[StackedStep]:
    samples = np.array([len(training.order) for training in trainings])
    sizes = np.array([training.batch_size for training in trainings])
    width = stack_width(sizes)
    rank, owner = np.nonzero(np.arange(-(-sizes.max() // width))[:, None] < -(-sizes // width))
    begins = np.arange(-(-samples[0] // sizes[0]))[:, None] * sizes  # of each client's batch, for each step
    counts = np.clip(samples - begins, 0, sizes)
    lane_counts = np.clip(counts[:, owner] - rank * width, 0, width)
    lane_begins = (begins + np.cumsum(samples) - samples)[:, owner] + rank * width
    order = np.concatenate([training.order for training in trainings])
    used = np.zeros(0, dtype=np.int64)
    further: list[NDArray[np.int64]] = []
    for count, inside, begin in zip(counts, lane_counts, lane_begins, strict=True):
        if len(used) != np.count_nonzero(inside):  # a lane is never used again, so as many are the same
            used = np.flatnonzero(inside)
            clients, *further = np.split(owner[used], np.searchsorted(rank[used], np.arange(1, rank[used[-1]] + 1)))
            fill = np.zeros(rounded_up(np.array(len(used)), LANE_DIGITS) - len(used), dtype=np.int64)
            lanes = np.append(used, fill)
        place = np.arange(min(width, int(rounded_up(inside.max(), WIDTH_DIGITS))))
        counted = place < inside[lanes, None]
        counted[len(used) :] = False
        batch = order[begin[lanes, None] + counted * place]
        share = np.divide(counted, count[owner[lanes], None], dtype=np.float32)
        yield StackedStep(batch, count[: len(clients)], share, further)


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
