"""Sums of long vectors in float64, block by block, so that what is between two operations stays in the cache."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fallow.models.weights import Weights

BLOCK = 2**14
"""Numbers at once: 128 kB in float64."""


class Term(NamedTuple):
    """share · (numbers − part · less).

    Attributes:
        share: What it is multiplied with.
        numbers: Shape (P,), float32.
        part: How much of `less` is taken off.
        less: Shape (P,), float32; None for nothing.
    """

    share: float
    numbers: Weights
    part: float = 0.0
    less: Weights | None = None


def added(base: NDArray[np.float64], terms: Iterable[Term]) -> NDArray[np.float64]:
    """Returns base + Σ share · (numbers − part · less), shape (P,), float64, term after term.

    Args:
        base: Shape (P,), float64.
        terms: What to add, in this order.

    Examples:
        >>> one = np.ones(2, dtype=np.float32)
        >>> added(np.zeros(2), [Term(2.0, 3 * one), Term(1.0, one, 0.5, one)])
        array([6.5, 6.5])
    """
    total, buffer = base.copy(), np.empty(min(BLOCK, base.size))
    for share, numbers, part, less in terms:
        for first in range(0, total.size, BLOCK):
            block = slice(first, first + BLOCK)
            here = buffer[: total[block].size]
            if less is None:
                np.multiply(numbers[block], share, out=here)
            else:
                np.multiply(less[block], part, out=here)
                np.subtract(numbers[block], here, out=here)
                here *= share
            total[block] += here
    return total
