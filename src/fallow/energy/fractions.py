"""Real amounts of energy as whole units, with their fractions carried from slot to slot."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray


def whole_units(real: NDArray[np.float64], offset: NDArray[np.float64]) -> NDArray[np.int64]:
    """Returns whole units whose sum up to any slot is that of the real ones, and the offset, rounded down.

    With an offset that is uniform on [0, 1) each slot has the right mean, and every sum is wrong by less than a unit.

    Args:
        real: Units a slot, 0 or more, shape (S, N), float64.
        offset: What each client has already, from 0 to 1, shape (N,), float64.

    Returns:
        Shape (S, N), int64.

    Examples:
        >>> whole_units(np.full((4, 1), 0.4), np.array([0.5])).ravel().tolist()
        [0, 1, 0, 1]
    """
    sums = np.floor(np.cumsum(np.vstack([offset, real]), axis=0))
    return np.diff(sums, axis=0).astype(np.int64)


def whole_rows(real: Iterable[NDArray[np.float64]], offset: NDArray[np.float64]) -> Iterator[NDArray[np.int64]]:
    """Yields the rows of `whole_units`, each of shape (N,), int64, without a table of all slots.

    Args:
        real: Units of one slot after the other, each of shape (N,), float64.
        offset: What each client has already, from 0 to 1, shape (N,), float64.

    Examples:
        >>> [row.tolist() for row in whole_rows([np.array([0.5]), np.array([1.75])], offset=np.zeros(1))]
        [[0], [2]]
    """
    carried = offset
    for units in real:
        carried = carried + units
        whole = np.floor(carried)
        carried -= whole
        yield whole.astype(np.int64)
