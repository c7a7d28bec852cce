"""What the runs of the benchmark came to, a row for each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from fallow.runs.layout import is_finished
from fallow.runs.reader import read_summary
from fallow.study.results import read_series
from fallow.sweeps.grid import PlannedRun

F1, ENERGY = "f1", "energy"
WHOLE = (ENERGY, "updates", "trainings", "never_delivered")
"""The columns of whole numbers; the others are shares."""

DIGITS = 6
"""After the decimal point of a score."""

METRICS = {
    "best_f1": "best_f1",
    ENERGY: "energy_total",
    "updates": "uploads",
    "trainings": "starts",
    "never_delivered": "clients_never_delivered",
    "jain_updates": "jain_index_uploads",
    "worst_tenth": "client_accuracy_worst_tenth",
}
"""The key of the summary for each column but F1, which is the mean over the last fifth of the epochs. A key that a
summary has not is left out."""


@dataclass(frozen=True)
class Score:
    """What one run came to.

    Attributes:
        scenario: Where.
        entrant: Who.
        seed: Of the run.
        values: Numbers by column.
    """

    scenario: str
    entrant: str
    seed: int
    values: dict[str, float]


def read_scores(runs: Iterable[PlannedRun]) -> list[Score]:
    """Returns a row for each finished run.

    Args:
        runs: Of the benchmark; those that are not finished are left out.
    """
    return [_read(run) for run in runs if is_finished(run.directory)]


def values_by_seed(scores: Iterable[Score], scenario: str, entrant: str, metric: str) -> dict[int, float]:
    """Returns a column of an entrant in a scenario, by seed; seeds that did not measure it are left out.

    Args:
        scores: Of all runs.
        scenario: Where.
        entrant: Who.
        metric: The column.
    """
    return {
        score.seed: score.values[metric]
        for score in scores
        if (score.scenario, score.entrant) == (scenario, entrant) and metric in score.values
    }


def find_columns(scores: Sequence[Score]) -> list[str]:
    """Returns the columns that any run measured, F1 first.

    Args:
        scores: Of all runs.
    """
    return list(dict.fromkeys((F1, *(name for score in scores for name in score.values))))


def _read(run: PlannedRun) -> Score:
    summary: dict[str, Any] = read_summary(run.directory)
    values = {F1: read_series(run.directory).late_f1()}
    values |= {name: summary[key] for name, key in METRICS.items() if summary.get(key) is not None}
    known = {name: round(float(value), DIGITS) for name, value in values.items() if not isnan(value)}
    return Score(run.point["scenario"], run.point["entrant"], run.point["seed"], known)
