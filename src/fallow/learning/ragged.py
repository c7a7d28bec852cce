"""How a cohort of clients with unequal data is cut into stacks, and their batches into lanes.

A lane holds at most so many samples of one client's batch as the stack is wide; a large batch takes several lanes, each
with a copy of the client's weights. So small and large clients share a stack with little to fill up.
"""

import numpy as np
from numpy.typing import NDArray

STEP_SAMPLES = 300
"""What a step of a stack costs beyond its lanes, in samples: the time to call its operations."""

LANE_SAMPLES = 5
"""What a lane costs beyond its samples, in samples: the time to read its weights and to write its gradient."""

LANES = 150
"""Most lanes of a stack, unless a single client needs them; with more, threads wait for memory."""

LANE_DIGITS, WIDTH_DIGITS = 4, 3
"""How the lanes of a stack and their width are rounded up; see ``rounded_up``."""

TRIED = 3
"""How many numbers of stacks for each worker are tried."""

NEVER = 2**62
"""More than anything costs."""

Integers = NDArray[np.int64]


def rounded_up(numbers: Integers, digits: int) -> Integers:
    """Returns the least number that is no smaller, of so many binary digits and then zeros, for each positive number.

    Stacks have such sizes, a few between a power of two and the next, because each new shape of a convolution costs
    more to prepare than to compute.

    Args:
        numbers: Any shape, int64.
        digits: With 4, there are eight sizes between a power of two and the next.

    Examples:
        >>> rounded_up(np.array([1, 15, 16, 17, 31, 33, 100]), digits=4).tolist()
        [1, 15, 16, 18, 32, 36, 104]
    """
    step = np.left_shift(1, np.maximum(np.frexp(numbers)[1].astype(np.int64) - digits, 0))
    return -(-numbers // step) * step


def stack_width(batch_sizes: Integers) -> int:
    """Returns how many samples the lanes of a stack hold: the width for which a step of its clients costs least.

    Args:
        batch_sizes: Shape (n,), int64.

    Examples:
        >>> stack_width(np.array([7, 8, 23]))
        8
    """
    widths = _widths(batch_sizes)
    lanes = (-(-batch_sizes[:, None] // widths)).sum(0)
    return int(widths[_lane_costs(rounded_up(lanes, LANE_DIGITS), widths).argmin()])


def ragged_stacks(sizes: Integers, batch_sizes: Integers, workers: int) -> list[list[int]]:
    """Returns a cohort cut into stacks.

    The clients are sorted by batch size, then by steps, and cut into a stack for each worker, so that the costliest
    costs as little as possible. A stack costs as many steps as its client with most of them, each `STEP_SAMPLES` and
    its lanes, of the width that costs least. Two or three stacks for each worker are tried too; taken is what ends
    first.

    Args:
        sizes: |D_i| of each training, shape (n,), int64.
        batch_sizes: Shape (n,), int64.
        workers: How many there are to think of; the result is right for any number.

    Returns:
        For each stack, indices into the cohort, those with more steps first; every index occurs once.

    Examples:
        >>> ragged_stacks(np.array([400, 20, 20, 380, 16]), np.array([100, 5, 5, 95, 4]), workers=2)
        [[4, 1, 2, 3], [0]]
    """
    steps = -(-sizes // batch_sizes)
    order = np.lexsort((steps, batch_sizes))
    cohort = _Sorted(steps[order], batch_sizes[order])
    fewest = -(-len(cohort.ends(NEVER)) // workers)
    ends: list[int] = []
    soonest = NEVER
    for each in range(fewest, fewest + TRIED):
        if cohort.least(each * workers) >= soonest * workers:
            break
        tried = cohort.even_ends(each * workers)
        if cohort.costliest(tried) * each < soonest:
            ends, soonest = tried, cohort.costliest(tried) * each
    stacks = np.split(order, ends[:-1])
    return [stack[np.argsort(-steps[stack], kind="stable")].tolist() for stack in stacks]


class _Sorted:
    """The clients of a cohort, sorted by batch size, and what stacks of neighbours cost, in samples."""

    def __init__(self, steps: Integers, batch_sizes: Integers) -> None:
        self.steps = steps
        self.widths = _widths(batch_sizes)
        self.lanes = -(-batch_sizes[:, None] // self.widths)
        self.lanes_before = np.vstack([np.zeros_like(self.widths), np.cumsum(self.lanes, axis=0)])
        self.alone = steps * _lane_costs(self.lanes, self.widths).min(1)
        self._costs: dict[int, Integers] = {}

    def costs(self, begin: int) -> Integers:
        """Returns what a stack costs that begins with a client and has 1, 2, … clients, as many as it can have."""
        if begin not in self._costs:
            lanes = self.lanes_before[begin + 1 : begin + 1 + LANES] - self.lanes_before[begin]
            step = np.where(lanes > LANES, NEVER, _lane_costs(lanes, self.widths)).min(1)
            step = step[: np.count_nonzero(step < NEVER)]  # it only grows
            longest = np.maximum.accumulate(self.steps[begin : begin + len(step)])
            self._costs[begin] = longest * (STEP_SAMPLES + step)
        return self._costs[begin]

    def ends(self, limit: int) -> list[int]:
        """Returns where stacks end that each take as many clients as they can for a limit no client is above."""
        ends = [0]
        while ends[-1] < len(self.steps):
            ends.append(ends[-1] + int(np.searchsorted(self.costs(ends[-1]), limit, side="right")))
        return ends[1:]

    def even_ends(self, count: int) -> list[int]:
        """Returns where at most so many stacks end whose costliest one costs least, to within 1/64."""
        low = high = max(int((self.steps * STEP_SAMPLES + self.alone).max()), int(self.alone.sum()) // count)
        while len(self.ends(high)) > count:
            low, high = high, 2 * high
        while high - low > high // 64:
            middle = (low + high) // 2
            low, high = (low, middle) if len(self.ends(middle)) <= count else (middle, high)
        return self.ends(high)

    def least(self, count: int) -> int:
        """Returns what so many stacks cost together at least, if each has a client with most steps."""
        return int(self.alone.sum() + count * STEP_SAMPLES * self.steps.max())

    def costliest(self, ends: list[int]) -> int:
        """Returns what the costliest of stacks costs."""
        return max(int(self.costs(begin)[end - begin - 1]) for begin, end in zip([0, *ends], ends, strict=False))


def _widths(batch_sizes: Integers) -> Integers:
    """Returns the widths that lanes may have, shape (W,), int64: rounded ones, and that of the largest batch."""
    rounded = np.unique(rounded_up(np.arange(1, batch_sizes.max() + 1), WIDTH_DIGITS))
    return np.append(rounded[:-1], batch_sizes.max())


def _lane_costs(lanes: Integers, widths: Integers) -> Integers:
    """Returns what so many lanes of each width cost in a step, in samples, shape (…, W), int64."""
    return lanes * (LANE_SAMPLES + widths)
