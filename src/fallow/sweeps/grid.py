"""Many runs: a grid over settings, each run in a directory of its own, taken up where it was left."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from fallow.errors import ConfigError
from fallow.experiment import Experiment
from fallow.experiment.settings import override, read_settings, value_of
from fallow.plugins.nested import flatten
from fallow.sweeps.axes import UNSAFE, Grid, check_axes, label_values, name_axes
from fallow.sweeps.sharing import ChosenSections

LONGEST_NAME = 200
"""Bytes; file systems allow 255."""


@dataclass(frozen=True)
class PlannedRun:
    """One run of a sweep.

    Attributes:
        point: The settings that differ from run to run, by full name; a part that was given as an object in a few
            letters, as in ``{"policy": "vaoi(k=5)"}``.
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

    Raises:
        ConfigError: A setting or an axis is not of the right form, or the file can't be read.
    """
    shared = read_settings(path)
    table = shared.pop("grid", {})
    if not isinstance(table, dict):
        raise ConfigError("grid must be a section, a table in TOML.")
    grid = flatten(table)
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
    """Returns every run of a grid, the last axis changing fastest; each is checked before any begins.

    Args:
        shared: The settings of all runs, by section. An option that only some of the choices of a grid have, as k of
            some policies, is set for those.
        grid: Values by setting; those of a section may be objects.
        directory: The sweep's folder.

    Raises:
        ConfigError: If an axis is empty or holds a value twice, two values that make no difference, or a point is no
            experiment; the sentence names it.
    """
    check_axes(grid)
    grid = name_axes(grid)
    labels = {key: label_values(key, values) for key, values in grid.items()}
    choices = ChosenSections(shared, grid)
    runs: list[PlannedRun] = []
    places: dict[Path, dict[str, Any]] = {}
    for places_on_axes in itertools.product(*(range(len(values)) for values in grid.values())):
        values = {key: grid[key][place] for key, place in zip(grid, places_on_axes, strict=True)}
        point = {key: labels[key][place] for key, place in zip(grid, places_on_axes, strict=True)}
        try:
            experiment = Experiment.parse(choices.settings_at(values))
        except ConfigError as error:
            raise ConfigError(f"At {_words(point)}: {error}" if point else str(error)) from None
        place = directory / run_name(point)
        if place in places:
            raise ConfigError(f"{_words(places[place])} and {_words(point)} would both be run in {place}.")
        places[place] = point
        runs.append(PlannedRun(point, experiment, place))
    _check_distinct(runs, labels)
    return runs


def run_name(point: Mapping[str, Any]) -> str:
    """Returns the name of a run's directory: its place in the grid, as in ``name=vaoi,seed=0``.

    Args:
        point: Values by setting.
    """
    short = {key: key.rpartition(".")[2] for key in point}
    clash = {name for name in short.values() if list(short.values()).count(name) > 1}
    parts = (f"{key if short[key] in clash else short[key]}={value}" for key, value in point.items())
    name = ",".join(parts).translate(UNSAFE).replace(" ", "") or "run"
    # A list of many numbers makes a longer name than a file may have.
    return name if len(name.encode()) <= LONGEST_NAME else f"{name[:80]}…{sha256(name.encode()).hexdigest()[:12]}"


def _check_distinct(runs: Iterable[PlannedRun], labels: Grid) -> None:
    """Raises an error if two values of an axis are the same experiment at every point of the others, as 1 and 1.0 are.

    At some points they may be: a policy without k passes over the k of others, and has a run to compare with each.
    """
    experiments = [run.experiment.to_toml() for run in runs]
    places = list(itertools.product(*(range(len(values)) for values in labels.values())))
    for axis, (key, values) in enumerate(labels.items()):
        seen: dict[tuple[str, ...], Any] = {}
        for number, value in enumerate(values):
            here = tuple(one for one, place in zip(experiments, places, strict=True) if place[axis] == number)
            if here in seen:
                raise ConfigError(
                    f"{key} = {seen[here]} and {key} = {value} are the same experiment; give one of them."
                )
            seen[here] = value


def _words(point: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in point.items())
