"""The runs of a study, read as data, and the axes along which they differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from pathlib import Path
from typing import Any

from fallow.plugins.nested import by_name, flatten
from fallow.runs.layout import is_finished
from fallow.runs.reader import read_settings, read_summary
from fallow.study.results import Series, read_series

LATE_F1 = "late_f1"
"""The metric that is not in a summary: the mean F1 of the evaluations in the last fifth of a run."""

NO_METRICS = ("seed", "clients", "epochs")
"""Numbers in a summary that say what was run, not what came of it."""

NO_AXES = ("seed", "compute.", "output.")
"""Settings that do not set runs apart: seeds are averaged over, the others do not change what is simulated."""

FIELDS = {"energy": "model"}
"""The setting of a section that chooses, where it is not called 'name'."""


@dataclass(frozen=True, eq=False)
class StudyRun:
    """A finished run.

    Attributes:
        directory: Where it is.
        settings: The resolved config, flat, as in ``{"energy.p": 0.1}``.
        summary: The totals.
        point: Its values on the study's axes but for the seed; that of "policy" in a few letters.
    """

    directory: Path
    settings: Mapping[str, Any]
    summary: Mapping[str, Any]
    point: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def series(self) -> Series:
        """The run over its epochs."""
        return read_series(self.directory)

    @property
    def seed(self) -> int:
        """The seed."""
        return int(self.settings["seed"])

    def measure(self, metric: str) -> float | None:
        """Returns a number of the run; None where it was not measured.

        Args:
            metric: A key of the summary, or "late_f1".
        """
        if metric == LATE_F1:
            value = self.series.late_f1() if self.summary.get("f1") is not None else None
        else:
            value = self.summary.get(metric)
        return None if value is None or isnan(value) else float(value)

    @property
    def metrics(self) -> list[str]:
        """The names that `measure` has a number for."""
        numbers = [
            key
            for key, value in self.summary.items()
            if isinstance(value, int | float) and not isinstance(value, bool) and key not in NO_METRICS
        ]
        return [*numbers, LATE_F1] if self.summary.get("f1") is not None else numbers


def read_members(directories: Sequence[Path]) -> tuple[list[StudyRun], list[Path]]:
    """Returns the finished runs among some directories, with their points, and the directories of the others.

    Nothing that a config names is loaded: a module may be gone.

    Args:
        directories: Of runs, finished or not.

    Raises:
        RunDirectoryError: If a file of a run can't be read.
    """
    finished = [directory for directory in directories if is_finished(directory)]
    settings = [by_name(flatten(read_settings(directory))) for directory in finished]
    points = find_points(settings)
    members = [
        StudyRun(directory, table, read_summary(directory), point)
        for directory, table, point in zip(finished, settings, points, strict=True)
    ]
    return members, [directory for directory in directories if directory not in set(finished)]


def find_points(tables: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns the place of each of several runs on the axes along which they differ, the policy first.

    Args:
        tables: The settings of each, flat.

    Returns:
        Values by setting; that of "policy" has the options in which runs of the same policy differ, as in
        ``vaoi(k=5)``.
    """
    by_policy: dict[str, list[Mapping[str, Any]]] = {}
    for table in tables:
        by_policy.setdefault(table["policy.name"], []).append(table)
    options = {name: [key for key in find_varying(own) if key.startswith("policy.")] for name, own in by_policy.items()}
    axes = [key for key in find_varying(tables) if not key.startswith(("policy.", *NO_AXES))]
    axes = [key for key in axes if not _follows_from_name(key, axes, tables)]
    return [
        {"policy": _policy_label(table, options[table["policy.name"]])} | {key: table.get(key) for key in axes}
        for table in tables
    ]


def find_varying(tables: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns the keys whose values are not the same in all tables, in the order in which they first appear.

    Args:
        tables: Settings by key, a table for each run.
    """
    keys = dict.fromkeys(key for table in tables for key in table)
    return [key for key in keys if any(table.get(key) != tables[0].get(key) for table in tables)]


def show_value(value: Any) -> str:
    """Returns a setting in a few letters. A setting that a run does not have is a dash.

    Args:
        value: Of the setting.
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _policy_label(table: Mapping[str, Any], options: Sequence[str]) -> str:
    shown = ",".join(f"{key.removeprefix('policy.')}={show_value(table.get(key))}" for key in options)
    return f"{table['policy.name']}({shown})" if shown else str(table["policy.name"])


def _follows_from_name(key: str, axes: Sequence[str], tables: Sequence[Mapping[str, Any]]) -> bool:
    """Returns whether a setting is no axis of its own: it changes only with the name that its section chooses."""
    section = key.partition(".")[0]
    name = f"{section}.{FIELDS.get(section, 'name')}"
    if name == key or name not in axes:
        return False
    pairs = {(str(table.get(name)), str(table.get(key))) for table in tables}
    return len(pairs) == len({chosen for chosen, _ in pairs})
