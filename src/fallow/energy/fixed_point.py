"""Shares and drains as whole numbers, so that what is lost of whole units is exact and fractions are carried."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Exact = NDArray[np.int64]
"""Numbers of 64 bits: units times a share, or units in fixed point with 32 binary places."""

BITS = 32
"""Binary places of what is carried, and significant bits of a share."""

MOST_PLACES = 62
"""Most binary places of a share: times 10⁹ units it still fits in 64 bits."""


def one_or_each(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns numbers over clients, shape (N,), float64, or the one number that is repeated, shape (1,), float64.

    Args:
        values: Shape (N,), float64.
    """
    return values[:1] if values.size and not values.strides[0] else values


@dataclass(frozen=True, eq=False)
class SmallShares:
    """Shares that may be tiny, as of self-discharge: m · 2^−(32+j) to 32 significant bits, rounded up.

    What a share takes of whole units is rounded up to a multiple of 2^−32: ⌈units · m · 2^−j⌉ of these.

    Attributes:
        factor: m, shape (N,), int64.
        shift: j, from 0 to 30, shape (N,), int64.
    """

    factor: Exact
    shift: Exact

    @classmethod
    def of(cls, shares: NDArray[np.float64]) -> "SmallShares":
        """Returns shares in fixed point. One number that is repeated stays one number that is repeated.

        Args:
            shares: From 0 to below 1, shape (N,), float64.

        Examples:
            >>> tenth = SmallShares.of(np.array([0.1]))
            >>> -(-10 * tenth.factor >> tenth.shift) / 2**32
            array([1.])
        """
        one = one_or_each(shares)
        _, exponent = np.frexp(one)
        places = np.minimum(BITS - exponent, MOST_PLACES)
        shift = (places - BITS).astype(np.int64)
        factor = np.ceil(np.ldexp(one, places)).astype(np.int64)
        return cls(np.broadcast_to(factor, shares.shape), np.broadcast_to(shift, shares.shape))


def fixed_shares(shares: NDArray[np.float64]) -> Exact:
    """Returns shares as multiples of 2^−32, rounded up, shape (N,), int64.

    Rounded up, so that a share such as 0.9, which no binary fraction is, gives 9 of 10 and not 8.

    Args:
        shares: Above 0 and at most 1, shape (N,), float64.

    Examples:
        >>> int(10 * fixed_shares(np.array([0.9]))[0]) >> 32
        9
    """
    return np.broadcast_to(np.ceil(np.ldexp(one_or_each(shares), BITS)).astype(np.int64), shares.shape)


def whole_part(units: NDArray[np.int64], shares: Exact) -> NDArray[np.int64]:
    """Returns ⌊units · share⌋, shape (N,), int64.

    Args:
        units: At least 0, shape (N,), int64.
        shares: Multiples of 2^−32, at most 1, shape (N,), int64.

    Examples:
        >>> whole_part(np.array([2**40 + 1]), fixed_shares(np.array([0.5]))) == 2**39
        array([ True])
    """
    given, share = units.view(np.uint64), shares.astype(np.uint64)
    high = (given >> np.uint64(BITS)) * share  # the product of both parts at once could be too long for 64 bits
    low = (given & np.uint64(2**BITS - 1)) * share >> np.uint64(BITS)
    return (high + low).view(np.int64)


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
        classes, member = np.unique(one_or_each(drains), return_inverse=True)
        whole = np.floor(classes)
        fraction = np.ceil(np.ldexp(classes - whole, BITS))
        of_client = np.broadcast_to(member.astype(np.int32), drains.shape)
        return cls(whole.astype(np.int64), fraction.astype(np.int64), of_client)

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
