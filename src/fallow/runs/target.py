"""What it took to reach an F1 score: the first evaluation that is at least the target, or never."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fallow.errors import ConfigError


@dataclass(frozen=True)
class Reached:
    """When a run first reached a score.

    Attributes:
        energy: Units consumed until the end of that epoch (`energy_total`).
        epochs: Epochs until then, that one included.
    """

    energy: float
    epochs: int


def check_target(target: object) -> float:
    """Returns the F1 score that a user names as the target.

    Args:
        target: What the user gave.

    Raises:
        ConfigError: It is no number above 0 and at most 1.

    Examples:
        >>> check_target(0.4)
        0.4
    """
    if isinstance(target, bool) or not isinstance(target, int | float) or not 0 < target <= 1:
        raise ConfigError(f"The target {target!r} is no F1 score; it must be more than 0 and at most 1, as in 0.4.")
    return float(target)


def first_reached(epochs: Mapping[str, NDArray[np.float64]], target: float) -> Reached | None:
    """Returns when a run first reached a score, by the evaluations that were made; None if it never did.

    Args:
        epochs: The columns of epochs.csv by name, each of shape (T,), float64; NaN where nothing was measured.
        target: The F1 score to reach.

    Examples:
        >>> f1 = np.array([np.nan, 0.3, np.nan, 0.5])
        >>> first_reached({"energy_total": np.array([10.0, 20.0, 30.0, 40.0]), "f1": f1}, 0.4)
        Reached(energy=40.0, epochs=4)
    """
    there = np.flatnonzero(epochs.get("f1", np.empty(0)) >= target)  # NaN, where nothing was evaluated, is not
    if not there.size:
        return None
    return Reached(float(epochs["energy_total"][there[0]]), int(there[0]) + 1)


def reached_by_half(values: Sequence[float], runs: int) -> float:
    """Returns the least number by which at least half of some runs had reached a score; infinity if fewer ever did.

    It is the (lower) median over all runs, where one that never reaches the score takes for ever. A mean over those
    that did would favour what reaches it only when that is easy.

    Args:
        values: The energy, or the epochs, of each run that reached it.
        runs: How many runs there are, also those that never reached it; at least one.

    Examples:
        >>> reached_by_half([30.0, 10.0, 20.0], runs=5), reached_by_half([10.0, 20.0], runs=5)
        (30.0, inf)
    """
    every = sorted([*values, *[float("inf")] * (runs - len(values))])
    return float(every[(runs - 1) // 2])
