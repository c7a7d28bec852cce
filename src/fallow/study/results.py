"""A run over its epochs, and the numbers by which runs are compared."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fallow.runs.reader import read_epochs

LATE = 0.2
"""The share of the epochs, at the end, over which scores are averaged: a single late score jumps."""


@dataclass(frozen=True, eq=False)
class Series:
    """One run over its epochs.

    Attributes:
        epochs: The columns of epochs.csv by name, shape (T,), float64; NaN where nothing was measured.
    """

    epochs: dict[str, NDArray[np.float64]]

    def late_f1(self) -> float:
        """Returns the mean F1 of the evaluations in the last fifth of the run.

        Without an evaluation there it is the last one, and NaN if there was none at all.
        """
        f1 = self.epochs.get("f1", np.empty(0))
        measured = np.flatnonzero(~np.isnan(f1))
        if not measured.size:
            return float("nan")
        late = measured[measured >= (1 - LATE) * f1.size]
        return float(f1[late].mean() if late.size else f1[measured[-1]])

    def energy(self) -> float:
        """Returns the units consumed."""
        return float(self.epochs["energy_total"][-1])

    def age(self, reset: str = "delivered") -> float:
        """Returns the mean version age over clients and epochs.

        Args:
            reset: When an age is reset: "delivered" or "selected".
        """
        return float(self.epochs[f"mean_age_{reset}"].mean())


def read_series(directory: Path) -> Series:
    """Returns the numbers of a run over its epochs.

    Args:
        directory: Of the run.
    """
    return Series(read_epochs(directory))
