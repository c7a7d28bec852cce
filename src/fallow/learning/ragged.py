"""How a cohort of clients with unequal data is cut into stacks, and their batches into lanes: the cut that costs least.

A lane holds at most so many samples of one client's batch as the stack is wide; a large batch takes several lanes, each
with a copy of the client's weights. So small and large clients share a stack with little to fill up.
"""

import numpy as np
from numpy.typing import NDArray

STEP_SAMPLES = 220
"""What a step of a stack costs beyond its lanes, in samples: the time to call its operations."""

LANE_SAMPLES = 4
"""What a lane costs beyond its samples, in samples: the time to read its weights and to write its gradient."""

LANES = 100
"""About the most lanes of a stack; with more, threads wait for memory."""

Integers = NDArray[np.int64]


def rounded_up(numbers: Integers) -> Integers:
    """Returns the least number of at most four binary digits and zeros that is no smaller, of each positive number.

    Stacks have such sizes, eight between a power of two and the next, because each new shape of a convolution costs
    more to prepare than to compute.

    Args:
        numbers: Any shape, int64.

    Examples:
        >>> rounded_up(np.array([1, 15, 16, 17, 31, 33, 100])).tolist()
        [1, 15, 16, 18, 32, 36, 104]
    """
    digits = np.frexp(numbers)[1].astype(np.int64)
    step = np.left_shift(1, np.maximum(digits - 4, 0))
    return -(-numbers // step) * step


def stack_width(steps: Integers, batch_sizes: Integers) -> int:
    """Returns how many samples the lanes of a stack hold: the width for which its clients cost least.

    Args:
        steps: Of each client, shape (n,), int64.
        batch_sizes: Shape (n,), int64.

    Examples:
        >>> stack_width(np.array([4, 4, 4]), np.array([7, 8, 23]))
        8
    """
    widths = _widths(batch_sizes)
    return int(widths[_lane_costs(steps, batch_sizes, widths).sum(0).argmin()])


def ragged_stacks(sizes: Integers, batch_sizes: Integers, parts: int) -> list[list[int]]:
    """Returns a cohort cut into stacks.

    The clients are sorted by batch size and cut into groups, each with lanes of one width, where the sum of what their
    lanes and steps cost is least (dynamic programming over the places of the last cut). The clients of a group are
    dealt to `parts` stacks with about as many lanes each, or to more of them if these have more than `LANES`.

    Args:
        sizes: |D_i| of each training, shape (n,), int64.
        batch_sizes: Shape (n,), int64.
        parts: The stacks of each group, so that so many workers have work.

    Returns:
        For each stack, indices into the cohort, those with more steps first; every index occurs once.

    Examples:
        >>> ragged_stacks(np.array([4000, 20, 20, 3800, 16]), np.array([1000, 5, 5, 950, 4]), parts=1)
        [[1, 2, 4], [0, 3]]
    """
    steps = -(-sizes // batch_sizes)
    order = np.argsort(batch_sizes, kind="stable")
    stacks = []
    for group in np.split(order, _cuts(steps[order], batch_sizes[order], parts)):
        lanes = -(-batch_sizes[group] // stack_width(steps[group], batch_sizes[group]))
        count = min(max(parts, -(-int(lanes.sum()) // LANES)), len(group))
        for members in _dealt(lanes * steps[group], count):
            part = group[members]
            stacks.append(part[np.argsort(-steps[part], kind="stable")].tolist())
    return stacks


def _cuts(steps: Integers, batch_sizes: Integers, parts: int) -> Integers:
    """Returns where the groups of clients sorted by batch size begin, without the first of them."""
    _, places = np.unique(batch_sizes, return_index=True)  # only between clients that differ
    places = np.append(places, len(batch_sizes))
    longest = np.maximum.reduceat(steps, places[:-1])
    costs = np.add.reduceat(_lane_costs(steps, batch_sizes, _widths(batch_sizes)), places[:-1])
    until = np.vstack([np.zeros(costs.shape[1]), np.cumsum(costs, axis=0)])
    cost, begin = np.zeros(len(places)), np.zeros(len(places), dtype=np.int64)
    for end in range(1, len(places)):
        most_steps = np.maximum.accumulate(longest[:end][::-1])[::-1]
        total = cost[:end] + (until[end] - until[:end]).min(1) + parts * STEP_SAMPLES * most_steps
        begin[end] = total.argmin()
        cost[end] = total[begin[end]]
    cuts: list[int] = []
    end = len(places) - 1
    while (end := int(begin[end])) > 0:
        cuts.insert(0, int(places[end]))
    return np.array(cuts, dtype=np.int64)


def _dealt(costs: Integers, count: int) -> list[list[int]]:
    """Returns the places of costs dealt to so many lists, the largest first, each to the list that has least."""
    lists: list[list[int]] = [[] for _ in range(count)]
    totals = [0] * count
    for place in np.argsort(-costs, kind="stable").tolist():
        least = totals.index(min(totals))
        lists[least].append(place)
        totals[least] += int(costs[place])
    return lists


def _widths(batch_sizes: Integers) -> Integers:
    """Returns the widths to choose from, shape (W,), int64."""
    return np.unique(rounded_up(np.arange(1, batch_sizes.max() + 1)))


def _lane_costs(steps: Integers, batch_sizes: Integers, widths: Integers) -> Integers:
    """Returns what all steps of each client's lanes cost for each width, in samples, shape (n, W), int64."""
    return steps[:, None] * -(-batch_sizes[:, None] // widths) * (LANE_SAMPLES + widths)
