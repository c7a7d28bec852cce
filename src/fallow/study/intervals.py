"""Differences between policies over common seeds, with an interval, and what they decide."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

Verdict = Literal["holds", "does not hold", "not decided"]


@dataclass(frozen=True)
class Interval:
    """A mean and its 95 % interval; without at least two values there is no interval.

    Attributes:
        mean: Of the values.
        low: Lower end, −∞ without an interval; likewise high.
        count: How many values.
    """

    mean: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        spread = f" [{self.low:+.3g}, {self.high:+.3g}]" if self.count > 1 else " (one seed)"
        return f"{self.mean:+.3g}{spread}"


def interval(values: Sequence[float]) -> Interval:
    """Returns the mean of paired differences with Student's 95 % interval."""
    array = np.asarray(values, dtype=np.float64)
    mean, count = float(array.mean()), array.size
    if count < 2:
        return Interval(mean, -np.inf, np.inf, count)
    from scipy.special import stdtrit  # Student's quantile, without the second that scipy.stats takes to load

    half = float(stdtrit(count - 1, 0.975) * array.std(ddof=1) / np.sqrt(count))
    return Interval(mean, mean - half, mean + half, count)


def all_positive(intervals: Sequence[Interval]) -> Verdict:
    """Decides 'all of these are above zero': no if one surely is not, yes if all surely are."""
    if not intervals:
        return "not decided"
    if any(one.high < 0 for one in intervals):
        return "does not hold"
    return "holds" if all(one.low > 0 for one in intervals) else "not decided"
