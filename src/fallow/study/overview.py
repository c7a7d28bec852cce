"""The overview of a study: a line for each point, with means and standard deviations over seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fallow.errors import ConfigError
from fallow.plugins.wording import did_you_mean
from fallow.runs.thresholds import OWN, age_threshold, say_thresholds
from fallow.study.members import StudyRun, show_value

METRICS = (("F1", "f1", 3), ("units", "energy_total", 0), ("trainings", "starts", 0))
"""Heading, number in the summary, and digits after the point."""

CLIENT_METRICS = (
    ("worst tenth", "client_accuracy_worst_tenth", 3),
    ("client sd", "client_accuracy_sd", 3),
    ("Jain's index", "jain_index_accuracy", 3),
)
"""The same for the accuracies of the clients."""

AGE = "mean_age_delivered"
NOTHING = "–"


@dataclass(frozen=True)
class Column:
    """A metric of the overview.

    Attributes:
        heading: What it is called.
        metric: Its name in the summary.
        digits: How many stand after the point.
        ages: For mean ages: by which distance they were counted; None where it does not matter.
    """

    heading: str
    metric: str
    digits: int
    ages: str | None = None

    def values(self, runs: Sequence[StudyRun]) -> list[float]:
        """Returns the numbers of this column, for those runs that measured it.

        Args:
            runs: Of the study.
        """
        own = [run for run in runs if self.ages is None or _kind_of_ages(run) == self.ages]
        return [value for value in (run.measure(self.metric) for run in own) if value is not None]


@dataclass(frozen=True)
class Line:
    """A line of the overview.

    Attributes:
        point: What its runs have in common.
        runs: Those that are averaged over.
    """

    point: Mapping[str, Any]
    runs: Sequence[StudyRun]


def group_runs(runs: Sequence[StudyRun], by: Sequence[str]) -> list[Line]:
    """Returns the runs in groups of equal values, in the order in which the groups first appear.

    Args:
        runs: To be grouped.
        by: Axes of the study, or any settings.

    Raises:
        ConfigError: If no run has such a setting.
    """
    known = {key for run in runs for key in (*run.point, *run.settings)}
    for key in by:
        if runs and key not in known:
            raise ConfigError(f"There is no setting '{key}' in this study{did_you_mean(key, known)}")
    groups: dict[tuple[str, ...], Line] = {}
    for run in runs:
        point = {key: run.point[key] if key in run.point else run.settings.get(key) for key in by}
        name = tuple(map(repr, point.values()))
        groups[name] = Line(point, [*(groups[name].runs if name in groups else ()), run])
    return list(groups.values())


def choose_columns(runs: Sequence[StudyRun]) -> list[Column]:
    """Returns the metrics that any of the runs measured.

    Ages that were counted by different distances can't be compared, so each kind has a column that says which it is.
    Neither can ages that were counted from different thresholds: the heading says so.

    Args:
        runs: Of the study.
    """
    kinds = dict.fromkeys(_kind_of_ages(run) for run in runs if run.measure(AGE) is not None)
    several = {kind for kind in kinds if explain_ages([run for run in runs if _kind_of_ages(run) == kind])}
    ages = [Column(f"mean age ({OWN})" if several else "mean age", AGE, 2)]
    if len(kinds) > 1:
        ages = [
            Column(f"mean age ({kind}, {OWN})" if kind in several else f"mean age ({kind})", AGE, 2, kind)
            for kind in kinds
        ]
    columns = [*(Column(*metric) for metric in METRICS), *ages, *(Column(*metric) for metric in CLIENT_METRICS)]
    return [column for column in columns if column.values(runs)]


def explain_ages(runs: Sequence[StudyRun]) -> str | None:
    """Returns a sentence if the ages of runs were counted from different thresholds; None if they compare.

    Args:
        runs: Of the study.
    """
    return say_thresholds(age_threshold(run.settings, run.summary) for run in runs if run.measure(AGE) is not None)


def show_cells(lines: Sequence[Line], columns: Sequence[Column]) -> tuple[list[str], list[list[str]]]:
    """Returns the headings and the cells of an overview, as text. The last column counts seeds.

    Args:
        lines: The runs of each point.
        columns: As `choose_columns` returns them.
    """
    keys = list(lines[0].point) if lines else []
    headings = [*(key.removesuffix(".name") for key in keys), *(column.heading for column in columns), "seeds"]
    rows = []
    for line in lines:
        values = ((column.values(line.runs), column.digits) for column in columns)
        cells = [mean_and_spread(own, digits) if own else NOTHING for own, digits in values]
        rows.append([*(show_value(line.point[key]) for key in keys), *cells, str(len(line.runs))])
    return headings, rows


def mean_and_spread(values: Sequence[float], digits: int) -> str:
    """Returns the mean, and with several values the standard deviation, as text.

    Args:
        values: One for each run.
        digits: After the decimal point.
    """
    mean = f"{np.mean(values):,.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ± {np.std(values, ddof=1):,.{digits}f}"


def _kind_of_ages(run: StudyRun) -> str:
    return str(run.summary.get("ages") or "distance not recorded")
