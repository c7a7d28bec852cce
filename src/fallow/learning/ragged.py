"""How a cohort of clients with unequal data is cut into stacks: the cut that costs least."""

import numpy as np
from numpy.typing import NDArray

STEP_SAMPLES = 150
"""What a step of a stack costs beyond its samples, in samples: the time to call its operations."""


def ragged_stacks(sizes: NDArray[np.int64], batch_sizes: NDArray[np.int64], most: int) -> list[list[int]]:
    """Returns a cohort cut into stacks of clients with similar batches.

    A stack computes as many steps as the client with most of them, each with as many samples of every client as the
    largest batch has. The clients are sorted by batch size, then by steps, and cut where the sum of this is least, with
    `STEP_SAMPLES` for each step (dynamic programming over the places of the last cut).

    Args:
        sizes: |D_i| of each training, shape (n,), int64.
        batch_sizes: Shape (n,), int64.
        most: Most clients in a stack.

    Returns:
        For each stack, indices into the cohort, those with more steps first; every index occurs once.

    Examples:
        >>> ragged_stacks(np.array([400, 20, 20, 380, 16]), np.array([100, 5, 5, 95, 4]), most=50)
        [[4, 1, 2], [3, 0]]
    """
    steps = -(-sizes // batch_sizes)
    order = np.lexsort((steps, batch_sizes))
    width, length = batch_sizes[order], steps[order]
    cost = np.zeros(len(order) + 1)
    begin = np.zeros(len(order) + 1, dtype=np.int64)
    for end in range(1, len(order) + 1):
        first = max(0, end - most)
        clients = np.arange(end - first, 0, -1)
        longest = np.maximum.accumulate(length[first:end][::-1])[::-1]
        # Sorted by width, so the last client of a stack has the largest batch.
        total = cost[first:end] + longest * (clients * width[end - 1] + STEP_SAMPLES)
        best = int(total.argmin())
        cost[end], begin[end] = total[best], first + best
    stacks = []
    end = len(order)
    while end > 0:
        part = order[begin[end] : end]
        stacks.append(part[np.argsort(-steps[part], kind="stable")].tolist())
        end = int(begin[end])
    return stacks[::-1]
