"""Comparisons between the points of a study, paired over common seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from fallow.errors import ConfigError
from fallow.experiment.choices import as_table
from fallow.plugins.nested import thawed
from fallow.plugins.wording import did_you_mean
from fallow.study.intervals import Interval, paired
from fallow.study.members import LATE_F1, StudyRun
from fallow.study.overview import Line, group_runs
from fallow.sweeps.parts import is_complete

F1 = "f1"


def check_metric(metric: str, runs: Sequence[StudyRun]) -> None:
    """Checks that at least one run has a number of that name.

    Args:
        metric: Of the summary, or "late_f1".
        runs: Of the study.

    Raises:
        ConfigError: If none has.
    """
    known = {name for run in runs for name in run.metrics}
    if metric not in known:
        if metric in (F1, LATE_F1):
            raise ConfigError(f"The metric '{metric}' was not measured: no run of this study learns.")
        raise ConfigError(f"There is no metric '{metric}'{did_you_mean(metric, known)}")


def find_differences(
    runs: Sequence[StudyRun], axes: Sequence[str], metric: str, to: object
) -> list[tuple[Line, Interval]]:
    """Returns how much more of a metric each other point has than a baseline, paired over common seeds.

    Args:
        runs: Of the study.
        axes: Of the study, but for the seed.
        metric: A number of the summary, or "late_f1".
        to: The baseline: a policy's name, label or object, or values by setting. On the axes that it leaves open each
            point is compared with the baseline of its own value.

    Raises:
        ConfigError: If there is no such metric, no such baseline, or more than one.
    """
    check_metric(metric, runs)
    wanted = read_baseline(to)
    baseline = [run for run in runs if _matches(run, wanted)]
    if not baseline:
        labels = dict.fromkeys(run.point["policy"] for run in runs)
        shown = ", ".join(f"{key} = {value}" for key, value in wanted.items())
        raise ConfigError(f"No run of this study has {shown}; its policies are {', '.join(labels)}.")
    settled = {"policy" if key.startswith("policy") else key for key in wanted}
    open_axes = [axis for axis in axes if axis not in settled]
    measured: dict[tuple[str, ...], float] = {}
    for run in baseline:
        key = _pair_key(run, open_axes)
        if key in measured:
            several = ", ".join(dict.fromkeys(run.point["policy"] for run in baseline))
            raise ConfigError(f"The baseline is several runs of one seed ({several}); give to= with more settings.")
        value = run.measure(metric)
        if value is not None:
            measured[key] = value
    others = [run for run in runs if not _matches(run, wanted)]
    found = []
    for line in group_runs(others, axes):
        ones = {_pair_key(run, open_axes): run.measure(metric) for run in line.runs}
        found.append((line, paired({key: value for key, value in ones.items() if value is not None}, measured)))
    return found


def read_baseline(to: object) -> dict[str, Any]:
    """Returns the values by setting of a baseline.

    Args:
        to: What a user names: a policy, or values by setting.
    """
    if isinstance(to, Mapping):
        return {str(key).replace("__", "."): value for key, value in to.items()}
    if isinstance(to, str):
        return {"policy": to}
    wanted = {"policy.name": as_table("policy", to)["name"]}
    for one in fields(to) if is_dataclass(to) and is_complete(to) else ():
        wanted[f"policy.{one.name}"] = thawed(vars(to)[one.name])
    return wanted


def _matches(run: StudyRun, wanted: Mapping[str, Any]) -> bool:
    for key, value in wanted.items():
        if key == "policy":
            if value not in (run.point["policy"], run.settings["policy.name"]):
                return False
        elif run.settings.get(key) != value:
            return False
    return True


def _pair_key(run: StudyRun, axes: Sequence[str]) -> tuple[str, ...]:
    return (*(repr(run.point[axis]) for axis in axes), str(run.seed))
