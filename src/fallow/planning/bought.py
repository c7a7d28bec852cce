"""What so many trainings bought in runs that were made: F1 with its interval, read off a run or a sweep."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fallow.errors import RunDirectoryError
from fallow.runs.layout import CONFIG, as_folder
from fallow.study.intervals import interval
from fallow.study.members import LATE_F1, StudyRun, read_members
from fallow.study.overview import group_runs


@dataclass(frozen=True)
class Bought:
    """The F1 that a number of trainings bought under a policy.

    Attributes:
        policy: Of the runs.
        trainings_per_round: Of a client, for which the F1 is read.
        f1: Over the last fifth of a run, the mean over seeds; None outside of what was measured.
        low: The lower end of the 95 % interval over seeds; None with a single seed.
        high: Its upper end.
        measured_from: The fewest trainings of a client and round that the runs had.
        measured_to: The most.
        runs: How many there are.
    """

    policy: str
    trainings_per_round: float
    f1: float | None
    low: float | None
    high: float | None
    measured_from: float
    measured_to: float
    runs: int


@dataclass(frozen=True, eq=False)
class Scores:
    """The points that the runs of a policy measured, in the order of their trainings.

    Attributes:
        policy: Of the runs.
        trainings: Of a client in a round, the mean over seeds, ascending, shape (points,), float64.
        f1: Mean and the ends of the interval over seeds, shape (3, points), float64; NaN with a single seed.
        runs: How many there are.
    """

    policy: str
    trainings: NDArray[np.float64]
    f1: NDArray[np.float64]
    runs: int

    def read(self, trainings_per_round: float) -> Bought:
        """Returns the F1 between the two nearest points; nothing outside of them.

        Args:
            trainings_per_round: Of a client.

        Examples:
            >>> scores = Scores("vaoi", np.array([0.2, 0.4]), np.array([[0.5, 0.7], [0.4, 0.6], [0.6, 0.8]]), runs=6)
            >>> round(scores.read(0.3).f1, 3), scores.read(0.5).f1
            (0.6, None)
        """
        first, last = float(self.trainings[0]), float(self.trainings[-1])
        inside = first <= trainings_per_round <= last
        found = [float(np.interp(trainings_per_round, self.trainings, line)) for line in self.f1]
        f1, low, high = (each if inside and not np.isnan(each) else None for each in found)
        return Bought(self.policy, trainings_per_round, f1, low, high, first, last, self.runs)


def read_scores(directory: Path | str) -> tuple[Scores, ...]:
    """Returns what the runs in a directory measured, by policy.

    Args:
        directory: Of a run or a sweep.

    Raises:
        RunDirectoryError: It holds no finished run that learnt.
    """
    folder = as_folder(directory, "runs")
    own = [folder] if (folder / CONFIG).exists() else sorted(path.parent for path in folder.glob(f"*/{CONFIG}"))
    if not own:
        raise RunDirectoryError(f"{folder} is neither a run nor the folder of a sweep; give one that is (--runs).")
    members, _ = read_members(own)
    learnt = [run for run in members if run.measure(LATE_F1) is not None]
    if not learnt:
        raise RunDirectoryError(f"{folder} holds no finished run with an F1 score; run with learning.mode = 'train'.")
    axes = list(dict.fromkeys(axis for run in learnt for axis in run.point))
    policies = group_runs(learnt, ["policy"])
    return tuple(_score(str(each.point["policy"]), each.runs, axes) for each in policies)


def _score(policy: str, runs: Sequence[StudyRun], axes: Sequence[str]) -> Scores:
    points = []
    for line in group_runs(runs, axes):
        f1 = interval([value for run in line.runs if (value := run.measure(LATE_F1)) is not None])
        spread = (max(f1.low, 0.0), min(f1.high, 1.0)) if f1.count > 1 else (np.nan, np.nan)  # F1 is from 0 to 1
        points.append((float(np.mean([_trainings(run) for run in line.runs])), f1.mean, *spread))
    table = np.array(sorted(points))
    return Scores(policy, table[:, 0], table[:, 1:].T, len(runs))


def _trainings(run: StudyRun) -> float:
    """Returns the trainings of a client in a round, the mean over clients and rounds."""
    return float(run.summary["starts"]) / int(run.summary["clients"]) / int(run.summary["epochs"])
