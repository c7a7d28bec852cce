"""Shares and drains as whole numbers, so that what is lost of whole units is exact and fractions are carried."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Exact = NDArray[np.uint64]

BITS = 32
"""Significant bits of a share, and bits of the fraction of a drain."""

MOST_PLACES = 62
"""Most binary places: 10⁹ units times a share of 32 bits, and a fraction of 62, fit in 64 bits together."""


@dataclass(frozen=True, eq=False)
class Shares:
    """A share of each client as m · 2^−k, to 32 significant bits, rounded up.

    Rounded up, so that a share such as 0.9, which no binary fraction is, gives 9 of 10 and not 8.

    Attributes:
        factor: m, shape (N,), uint64.
        places: k, from 31 to 62, shape (N,), uint64.
        rest: 2^k − 1, shape (N,), uint64; the mask of what is less than a unit.
    """

    factor: Exact
    places: Exact
    rest: Exact

    @classmethod
    def of(cls, shares: NDArray[np.float64]) -> "Shares":
        """Returns shares in fixed point. One number that is repeated stays one number that is repeated.

        Args:
            shares: From 0 to 1, shape (N,), float64.

        Examples:
            >>> half = Shares.of(np.array([0.5]))
            >>> half.factor / 2.0**half.places
            array([0.5])
        """
        one = shares[:1] if shares.size and not shares.strides[0] else shares
        _, exponent = np.frexp(one)
        places = np.minimum(BITS - exponent, MOST_PLACES).astype(np.uint64)
        factor = np.ceil(np.ldexp(one, places.astype(np.int32))).astype(np.uint64)
        rest = (np.uint64(1) << places) - np.uint64(1)
        return cls(*(np.broadcast_to(array, shares.shape) for array in (factor, places, rest)))


@dataclass(frozen=True, eq=False)
class Drains:
    """Units a slot that are real numbers, as the whole units that are due in each slot.

    Attributes:
        whole: Of each class of equal drains, the whole units, shape (classes,), int64.
        fraction: And the fraction, in 2^−32, rounded up, shape (classes,), int64.
        member: The class of each client, shape (N,), int32.
    """

    whole: NDArray[np.int64]
    fraction: NDArray[np.int64]
    member: NDArray[np.int32]

    @classmethod
    def of(cls, drains: NDArray[np.float64]) -> "Drains":
        """Returns drains by their classes.

        Args:
            drains: Units a slot, shape (N,), float64.
        """
        if drains.size and not drains.strides[0]:
            classes, member = drains[:1], np.broadcast_to(np.int32(0), drains.shape)
        else:
            classes, found = np.unique(drains, return_inverse=True)
            member = found.astype(np.int32)
        whole = np.floor(classes)
        fraction = np.ceil(np.ldexp(classes - whole, BITS))
        return cls(whole.astype(np.int64), fraction.astype(np.int64), member)

    def due(self, slot: int) -> NDArray[np.int32]:
        """Returns the whole units that are due in a slot, ⌊(s+1)·drain⌋ − ⌊s·drain⌋, shape (classes,), int32.

        Args:
            slot: s, counted from the beginning of the run.

        Examples:
            >>> drains = Drains.of(np.array([0.3]))
            >>> [drains.due(slot).item() for slot in range(10)]
            [0, 0, 0, 1, 0, 0, 1, 0, 0, 1]
        """
        more = ((slot + 1) * self.fraction >> BITS) - (slot * self.fraction >> BITS)
        return (self.whole + more).astype(np.int32)
