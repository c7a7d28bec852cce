"""The words that error sentences share: the name that was meant, and what a user's code raised."""

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST_SHOWN = 80
"""Most letters of a value that a sentence quotes."""

NEAR = 0.6
"""How similar two names must be, from 0 to 1, for one to count as a misspelling of the other."""

LONGEST = 500
"""Most letters of an error's message within a sentence."""


def nearest(name: str, valid: Iterable[str]) -> str | None:
    """Returns the valid name that `name` was probably meant to be; None if none is similar.

    Args:
        name: As the user wrote it; upper and lower case are the same.
        valid: The names to choose from.

    Examples:
        >>> nearest("fedavgg", ["vaoi", "fedavg"])
        'fedavg'
    """
    if len(str(name)) > LONGEST_SHOWN:
        return None  # nothing has such a name, and to compare it would take long
    by_lower = {known.lower(): known for known in sorted(valid)}
    near = get_close_matches(str(name).lower(), by_lower, n=1, cutoff=NEAR)
    return by_lower[near[0]] if near else None


def did_you_mean(name: str, valid: Iterable[str]) -> str:
    """Returns the end of an error sentence: the valid name that was probably meant, or the list of valid names.

    Args:
        name: As the user wrote it.
        valid: The names to choose from.

    Examples:
        >>> did_you_mean("fedavgg", ["vaoi", "fedavg"])
        "; did you mean 'fedavg'?"
    """
    names = sorted(valid)
    near = nearest(name, names)
    return f"; did you mean '{near}'?" if near else f"; valid names are {', '.join(names)}."


def verbatim(text: str) -> str:
    r"""Returns a text as Matplotlib draws it letter by letter, where a $ would begin a formula.

    Examples:
        >>> print(verbatim("$frac$"))
        \$frac\$
    """
    return text.replace("$", r"\$")


def in_words(error: BaseException, lines: int | None = None) -> str:
    """Returns an error's type and message, in one line without a full stop.

    Args:
        error: The error.
        lines: How many of the message's first lines are told; None is all.

    Examples:
        >>> in_words(ValueError("k is too large."))
        'ValueError: k is too large'
    """
    try:
        words = " ".join(" ".join(str(error).strip().split("\n")[:lines]).split()).rstrip(".")
    except Exception:  # noqa: BLE001  # an error whose own text fails: its type is all there is to say
        words = ""
    words = words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def shortened(text: str) -> str:
    """Returns a text as a sentence can quote it: in one line, and cut in the middle if it is long.

    Examples:
        >>> print(shortened("two lines"), len(shortened("9" * 1000)))
        two lines 80
    """
    half = LONGEST_SHOWN // 2
    if len(text) > LONGEST_SHOWN:
        text = f"{text[:half]}…{text[-half + 1 :]}"
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
