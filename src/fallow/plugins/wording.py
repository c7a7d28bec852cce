"""The words that error sentences share: the name that was meant, and what somebody's code raised."""

from collections.abc import Iterable
from difflib import get_close_matches

NEAR = 0.6
"""How alike two names must be, from 0 to 1, for one to be a slip of the pen for the other."""


def nearest(name: str, valid: Iterable[str]) -> str | None:
    """Returns the valid name that `name` was probably meant to be; None if none is near.

    Examples:
        >>> nearest("fedavgg", ["vaoi", "fedavg"])
        'fedavg'
    """
    by_lower = {one.lower(): one for one in sorted(valid)}
    near = get_close_matches(str(name).lower(), by_lower, n=1, cutoff=NEAR)
    return by_lower[near[0]] if near else None


def did_you_mean(name: str, valid: Iterable[str]) -> str:
    """Returns ``"; did you mean 'x'?"`` for the valid name nearest to `name`, or the list of valid names.

    Examples:
        >>> did_you_mean("fedavgg", ["vaoi", "fedavg"])
        "; did you mean 'fedavg'?"
    """
    names = sorted(valid)
    near = nearest(name, names)
    return f"; did you mean '{near}'?" if near else f"; valid names are {', '.join(names)}."


def in_words(error: BaseException) -> str:
    """Returns an error's type and what it says, in one line without a full stop."""
    words = " ".join(str(error).split()).rstrip(".")
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
