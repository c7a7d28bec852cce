"""What somebody's code returned: as a plain array or number, or an error in a sentence."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.errors import PluginError
from fallow.plugins.wording import in_words


def plain_array(what: str, returned: object, error: type[PluginError] = PluginError) -> NDArray[Any]:
    """Returns an array, or a list of numbers, as a plain array. Its shape and type are the caller's to check.

    Args:
        what: What was returned by whom, in words, as in "The harvest of 'mine:Sun'".
        returned: What was returned.
        error: The error to raise.

    Raises:
        PluginError: It is a masked array, or nothing that an array can be made of; or the error given.

    Examples:
        >>> plain_array("The harvest", [0, 1])
        array([0, 1])
    """
    if type(returned) is np.ndarray:
        return returned
    if isinstance(returned, np.ma.MaskedArray):
        raise error(f"{what} is a masked array, whose mask would be lost; return it filled: array.filled(…).")
    try:
        return np.asarray(returned)
    except Exception as reason:  # whatever an object says when it is asked for its numbers
        raise error(
            f"{what} is a {type(returned).__name__} that no array can be made of: {in_words(reason)}."
        ) from reason


def plain_number(what: str, returned: object, least: float, most: float) -> float:
    """Returns a number within limits.

    Args:
        what: What was returned by whom, in words.
        returned: What was returned: a number of Python or NumPy.
        least: The least it may be.
        most: The most it may be.

    Raises:
        PluginError: It is no number, or beyond the limits, or NaN.

    Examples:
        >>> plain_number("The discount", 0.5, 0, 1)
        0.5
    """
    if isinstance(returned, float | int | np.floating | np.integer) and least <= returned <= most:
        return float(returned)
    limits = f"from {least:g} to {most:g}" if math.isfinite(most) else f"finite, and at least {least:g}"
    raise PluginError(f"{what} is {_shown(returned)}; it must be a number {limits}.")


def _shown(value: object) -> str:
    """Returns a value as a sentence can hold it."""
    if isinstance(value, float | int | np.floating | np.integer):
        return str(value)
    return f"a {type(value).__name__}"
