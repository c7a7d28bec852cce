"""Many runs: a grid over settings, each run in a directory of its own, taken up where it was left."""

import csv
import io
import itertools
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from fallow.errors import ConfigError, RunDirectoryError
from fallow.experiment import Experiment
from fallow.experiment.settings import override, put, read_settings, value_of
from fallow.runs.execute import read_experiment
from fallow.runs.layout import CONFIG, check_place, is_finished
from fallow.runs.reader import read_summary
from fallow.storage.files import write_atomically

TABLE = "table.csv"
LONGEST_NAME = 200
"""Bytes; file systems allow 255."""

Grid = dict[str, list[Any]]
"""Values by the full name of a setting, as in {"policy.name": ["vaoi", "fedavg"], "seed": [0, 1, 2]}."""


@dataclass(frozen=True)
class PlannedRun:
    """One run of a sweep.

    Attributes:
        point: The settings that differ from run to run, by full name.
        experiment: What is run.
        directory: Where to.
    """

    point: dict[str, Any]
    experiment: Experiment
    directory: Path


def read_grid(path: Path | None, settings: Iterable[str], axes: Iterable[str]) -> tuple[dict[str, Any], Grid]:
    """Returns the settings that all runs share, and the grid.

    Args:
        path: A config with a table [grid], or without; None for the defaults.
        settings: ``key=value``, for every run.
        axes: ``key=value,value,…``; they stand in for an axis of the same name in the file.
    """
    shared = read_settings(path)
    grid = dict(_flattened(shared.pop("grid", {})))
    for setting in settings:
        override(shared, setting)
    given: set[str] = set()
    for axis in axes:
        key, equals, text = axis.partition("=")
        if not equals or not text.strip():
            raise ConfigError(f"'{axis}' is not of the form key=value,value, as in seed=0,1,2.")
        if key.strip() in given:
            raise ConfigError(f"The axis {key.strip()} is given twice; put all of its values into one.")
        given.add(key.strip())
        grid[key.strip()] = [value_of(part) for part in text.split(",")]
    return shared, grid


def plan(shared: Mapping[str, Any], grid: Grid, directory: Path) -> list[PlannedRun]:
    """Returns every run of a grid, the last axis changing fastest; each is checked before any begins."""
    for key, values in grid.items():
        if not isinstance(values, list) or not values:
            raise ConfigError(f"grid.{key} must be a list of values, not {values}.")
        if len({repr(value) for value in values}) < len(values):
            raise ConfigError(f"grid.{key} holds a value twice: {values}.")
    runs: list[PlannedRun] = []
    places: dict[Path, dict[str, Any]] = {}
    for one in itertools.product(*grid.values()):
        point = dict(zip(grid, one, strict=True))
        settings = deepcopy(dict(shared))
        for key, value in point.items():
            put(settings, key, value)
        try:
            experiment = Experiment.parse(settings)
        except ConfigError as error:
            raise ConfigError(f"At {_words(point)}: {error}") from error
        place = directory / run_name(point)
        if place in places:
            raise ConfigError(f"{_words(places[place])} and {_words(point)} would both be run in {place}.")
        places[place] = point
        runs.append(PlannedRun(point, experiment, place))
    return runs


def run_name(point: Mapping[str, Any]) -> str:
    """Returns the name of a run's directory: its place in the grid, as in ``name=vaoi,seed=0``."""
    short = {key: key.rpartition(".")[2] for key in point}
    clash = {name for name in short.values() if list(short.values()).count(name) > 1}
    parts = (f"{key if short[key] in clash else short[key]}={value}" for key, value in point.items())
    name = ",".join(parts).replace("/", "_").replace(" ", "") or "run"
    # A list of many numbers makes a longer name than a file may have.
    return name if len(name.encode()) <= LONGEST_NAME else f"{name[:80]}…{sha256(name.encode()).hexdigest()[:12]}"


def check_directories(runs: Iterable[PlannedRun]) -> None:
    """Refuses to go on in a directory that holds a run of another experiment."""
    runs = list(runs)
    for folder in dict.fromkeys(run.directory.parent for run in runs):
        check_place(folder)
        if (folder / CONFIG).exists():
            raise RunDirectoryError(f"{folder} holds a run; choose another --out.")
    for run in runs:
        if (run.directory / CONFIG).exists() and not same_experiment(read_experiment(run.directory), run.experiment):
            raise RunDirectoryError(
                f"{run.directory} holds a run of another experiment; choose another --out, or remove it."
            )


def check_inputs(runs: Iterable[PlannedRun]) -> None:
    """Reads every trace and every dataset once: what is missing or wrong is said before anything runs."""
    read: set[str] = set()
    for experiment in (run.experiment for run in runs):
        harvest, sizes = experiment.build("energy", "model"), (experiment.clients, experiment.slots_per_epoch)
        if f"{harvest} {sizes}" not in read:
            harvest.prepare(experiment.seed, *sizes)
            read.add(f"{harvest} {sizes}")
        dataset = experiment.build("data")
        if experiment.learning.mode == "train" and f"{dataset}" not in read:
            dataset.load(experiment.seed)
            read.add(f"{dataset}")


def same_experiment(one: Experiment, other: Experiment) -> bool:
    """Tells whether two experiments are the same but for how the arithmetic is spread."""
    plain = {"strategy": "auto", "workers": 0}

    def bare(experiment: Experiment) -> Experiment:
        return experiment.model_copy(update={"compute": experiment.compute.model_copy(update=plain)})

    return bare(one).to_toml() == bare(other).to_toml()


def finished_rows(runs: Iterable[PlannedRun]) -> list[dict[str, Any]]:
    """Returns a row for each finished run: its place in the grid, then its summary."""
    rows = []
    for run in runs:
        if is_finished(run.directory):
            summary = read_summary(run.directory)
            summary.pop("versions", None)
            rows.append(run.point | {key: value for key, value in summary.items() if key not in run.point})
    return rows


def write_table(path: Path, rows: list[dict[str, Any]]) -> None:
    """Writes the rows as CSV, in one step."""
    file = io.StringIO()
    writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(path, file.getvalue().encode())


def _flattened(table: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    if not isinstance(table, Mapping):
        raise ConfigError("grid must be a section, a table in TOML.")
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _words(point: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in point.items())
