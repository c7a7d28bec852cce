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


def t_test(values: Sequence[float]) -> float:
    """Returns how likely differences as far from zero are where there is none: Student's t, two-sided.

    Args:
        values: The differences; with fewer than two nothing can be said: 1.

    Examples:
        >>> round(t_test([1.0, 2.0, 3.0]), 4)
        0.0742
    """
    array = np.asarray(values, dtype=np.float64)
    if array.size < 2:
        return 1.0
    mean, deviation = float(array.mean()), float(array.std(ddof=1))
    if deviation == 0:
        return 1.0 if mean == 0 else 0.0
    from scipy import special  # takes a second: only for those who ask

    t = abs(mean) / (deviation / np.sqrt(array.size))
    return float(2 * special.stdtr(array.size - 1, -t))


def holm(chances: Sequence[float]) -> list[float]:
    """Returns the chances of many tests, corrected by Holm for their number, in the same order.

    The smallest of m is multiplied by m, the next by m − 1 and so on; none is less than one before it, or above 1.

    Args:
        chances: The chance of each test alone.

    Examples:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    corrected = [1.0] * len(chances)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(chances)), key=lambda one: chances[one])):
        largest = max(largest, min(1.0, (len(chances) - rank) * chances[place]))
        corrected[place] = largest
    return corrected
