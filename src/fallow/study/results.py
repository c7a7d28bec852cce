"""What the runs of the study came to, by cell, policy and seed."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.runs.layout import is_finished
from fallow.runs.reader import read_epochs
from fallow.sweeps.grid import PlannedRun

LATE = 0.2
"""The share of the epochs, at the end, over which scores are averaged: a single late score jumps."""

Cell = tuple[float, float]
"""(α, p_bc)."""


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


Results = dict[tuple[Cell, str, int], Series]
"""By cell, policy and seed."""


def read_results(runs: Iterable[PlannedRun]) -> Results:
    """Returns the finished runs.

    Args:
        runs: Those that are not finished are left out.
    """
    return {_key(run.point): read_series(run.directory) for run in runs if is_finished(run.directory)}


def read_series(directory: Path) -> Series:
    """Returns the numbers of a run over its epochs.

    Args:
        directory: Of the run.
    """
    return Series(read_epochs(directory))


def seeds_of(results: Results, cell: Cell, *policies: str) -> list[int]:
    """Returns the seeds for which a cell has a run of every policy named.

    Args:
        results: All finished runs.
        cell: Where to look.
        *policies: Names of policies.
    """
    found = [{seed for own, policy, seed in results if (own, policy) == (cell, name)} for name in policies]
    return sorted(set.intersection(*found)) if found else []


def _key(point: dict[str, Any]) -> tuple[Cell, str, int]:
    return (point["data.alpha"], point["energy.p"]), point["policy.name"], point["seed"]
