"""What the runs of the paper's study came to: numbers of each run, and bands over seeds."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.plugins.nested import flatten
from fallow.runs.layout import CONFIG, is_finished
from fallow.runs.reader import read_settings
from fallow.runs.target import first_reached
from fallow.study.results import Series, read_series

Cell = tuple[float, float]
"""(α, p_bc)."""

TARGET = 0.3
"""The F1 score of 'energy to a target': all policies come to it where energy is not scarce."""

CURVES = {"f1": "f1", "age": "mean_age_delivered"}
"""What is drawn over epochs, and its column of epochs.csv."""


@dataclass(frozen=True)
class Outcome:
    """What a run came to.

    Attributes:
        epochs: T.
        late_f1: Mean F1 of the evaluations in the last fifth.
        energy: Units consumed.
        age_delivered: Mean version age where an update received resets it.
        age_selected: The same where being selected does.
        energy_to_target: Units consumed until F1 came to `TARGET`; infinite if it never did.
    """

    epochs: int
    late_f1: float
    energy: float
    age_delivered: float
    age_selected: float
    energy_to_target: float


@dataclass(frozen=True, eq=False)
class Band:
    """One curve over epochs: the mean over seeds, and the least and the greatest.

    Attributes:
        epochs: From 1, shape (E,), int64.
        mean: Shape (E,), float64.
        low: Shape (E,), float64.
        high: Shape (E,), float64.
        seeds: How many.
    """

    epochs: NDArray[np.int64]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    seeds: int


Results = dict[tuple[Cell, str, int], Outcome]
"""By cell, policy and seed."""

Curves = dict[tuple[Cell, str, str], Band]
"""By cell, policy and what is drawn."""


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What the runs under one rule came to.

    Attributes:
        runs: The numbers of each run.
        curves: What is drawn over epochs.
    """

    runs: Results = field(default_factory=dict)
    curves: Curves = field(default_factory=dict)


def outcome_of(series: Series) -> Outcome:
    """Returns the numbers of a run.

    Args:
        series: The run over its epochs.
    """
    reached = first_reached(series.epochs, TARGET)
    return Outcome(
        epochs=len(series.epochs["energy_total"]),
        late_f1=series.late_f1(),
        energy=series.energy(),
        age_delivered=series.age("delivered"),
        age_selected=series.age("selected"),
        energy_to_target=reached.energy if reached else float("inf"),
    )


def gather(series: Mapping[tuple[Cell, str, int], Series]) -> Outcomes:
    """Returns what runs came to.

    Args:
        series: The runs over their epochs, by cell, policy and seed.
    """
    together: dict[tuple[Cell, str], list[Series]] = defaultdict(list)
    for (cell, policy, _), own in series.items():
        together[cell, policy].append(own)
    curves = {
        (cell, policy, what): _band([one.epochs[column] for one in own], [one.epochs.get("f1") for one in own])
        for (cell, policy), own in together.items()
        for what, column in CURVES.items()
        if all(column in one.epochs for one in own)
    }
    return Outcomes({key: outcome_of(own) for key, own in series.items()}, curves)


def read_outcomes(folder: Path) -> Outcomes:
    """Returns what the finished runs in a folder came to; those that are not finished are left out.

    Args:
        folder: With a directory for each run; it need not exist.
    """
    return gather(
        {
            ((flat["data.alpha"], flat["energy.p"]), flat["policy.name"], flat["seed"]): read_series(directory)
            for flat, directory in finished_runs(folder)
        }
    )


def finished_runs(folder: Path) -> Iterator[tuple[dict[str, Any], Path]]:
    """Yields the settings, by their full names, and the directory of each finished run in a folder.

    Args:
        folder: With a directory for each run; it need not exist.

    Raises:
        RunDirectoryError: The settings of a run can't be read.
    """
    for directory in sorted(path.parent for path in folder.glob(f"*/{CONFIG}")):
        if is_finished(directory):
            yield flatten(read_settings(directory)), directory


def seeds_of(results: Results, cell: Cell, *policies: str) -> list[int]:
    """Returns the seeds for which a cell has a run of every policy named.

    Args:
        results: All finished runs.
        cell: Where to look.
        *policies: Names of policies.
    """
    found = [{seed for own, policy, seed in results if (own, policy) == (cell, name)} for name in policies]
    return sorted(set.intersection(*found)) if found else []


def _band(values: Sequence[NDArray[np.float64]], scores: Sequence[NDArray[np.float64] | None]) -> Band:
    """Returns the curve at the epochs in which every run was evaluated; at all where none was."""
    shortest = min(len(one) for one in values)  # runs of one cell may not all have come as far
    stacked, evaluated = (
        np.stack([one[:shortest] for one in some if one is not None] or [np.zeros(shortest)])
        for some in (values, scores)
    )
    measured = ~np.isnan(np.concatenate([stacked, evaluated])).any(axis=0)
    stacked = stacked[:, measured]
    epochs = np.flatnonzero(measured) + 1
    return Band(epochs, stacked.mean(axis=0), stacked.min(axis=0), stacked.max(axis=0), len(values))
