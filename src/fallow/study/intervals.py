"""Differences between policies over common seeds, with an interval, and what they decide."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

Verdict = Literal["holds", "does not hold", "not decided"]
Key = TypeVar("Key")


@dataclass(frozen=True)
class Interval:
    """A mean and its 95 % interval; without at least two values there is no interval.

    Attributes:
        mean: Of the values; NaN without values.
        low: Lower end; −∞ without an interval.
        high: Upper end; +∞ without an interval.
        count: How many values.
    """

    mean: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        spread = f" [{self.low:+.3g}, {self.high:+.3g}]" if self.count > 1 else " (one seed)"
        return f"{self.mean:+.3g}{spread}"

    def markdown(self, digits: str) -> str:
        """Returns the mean and its interval for a table in Markdown, in bold where the interval leaves out zero.

        Args:
            digits: A format of numbers, as in ``+.3f``.

        Examples:
            >>> Interval(0.5, 0.25, 0.75, count=3).markdown("+.2f")
            '**+0.50 (+0.25 to +0.75)**'
        """
        if self.count < 2:
            return f"{self.mean:{digits}}"
        text = f"{self.mean:{digits}} ({self.low:{digits}} to {self.high:{digits}})"
        return f"**{text}**" if self.low > 0 or self.high < 0 else text


def interval(values: Sequence[float]) -> Interval:
    """Returns the mean of paired differences with Student's 95 % interval.

    Args:
        values: The differences. Without any, the mean is NaN.
    """
    array = np.asarray(values, dtype=np.float64)
    count = array.size
    mean = float(array.mean()) if count else float("nan")
    if count < 2:
        return Interval(mean, -np.inf, np.inf, count)
    from scipy import special  # takes a second: only for those who ask

    half = float(special.stdtrit(count - 1, 0.975) * array.std(ddof=1) / np.sqrt(count))
    return Interval(mean, mean - half, mean + half, count)


def paired(ones: Mapping[Key, float], others: Mapping[Key, float]) -> Interval:
    """Returns the differences `ones` − `others` over the keys that both have.

    Args:
        ones: Numbers by key, such as a seed.
        others: The numbers that are subtracted, by key.
    """
    return interval([ones[key] - others[key] for key in ones if key in others])


def all_positive(intervals: Sequence[Interval]) -> Verdict:
    """Returns the verdict on 'all of these are above zero': no if one surely is not, yes if all surely are.

    Args:
        intervals: Of the differences.
    """
    if not intervals:
        return "not decided"
    if any(one.high < 0 for one in intervals):
        return "does not hold"
    return "holds" if all(one.low > 0 for one in intervals) else "not decided"
