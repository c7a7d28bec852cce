"""The experiment of a run that was begun, to go on with it or to build its model again."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fallow.errors import RunDirectoryError
from fallow.experiment import Experiment
from fallow.plugins.nested import flatten
from fallow.runs.layout import CONFIG
from fallow.runs.reader import read_settings

SPREADING = ("compute.strategy", "compute.workers")
"""How the arithmetic is spread: it may differ between two parts of one run."""


def read_experiment(directory: Path) -> Experiment:
    """Returns the experiment of a run directory.

    Unlike ``reader.read_settings``, this imports what the config names, and checks that it can be run here.

    Args:
        directory: Of the run.

    Raises:
        RunDirectoryError: The directory holds no run.
        ConfigError: What the config says can't be run here.
    """
    read_settings(directory)
    return Experiment.read(directory / CONFIG)


def as_begun(experiment: Experiment | None, directory: Path) -> Experiment:
    """Returns an experiment with what was measured when its run began.

    Args:
        experiment: What is run, if the caller has it; without it, what the config names is imported.
        directory: Of the run.

    Raises:
        ConfigError: What the config says can't be run here.
        RunDirectoryError: The run is of another experiment.
    """
    if experiment is None:
        return read_experiment(directory)
    check_same(experiment, directory)
    strategy = read_settings(directory).get("compute", {}).get("strategy", experiment.compute.strategy)
    return experiment.model_copy(update={"compute": experiment.compute.model_copy(update={"strategy": strategy})})


def check_same(experiment: Experiment, directory: Path) -> None:
    """Checks that a run that was begun is of an experiment; imports nothing that its config names.

    Args:
        experiment: What is to be run.
        directory: Of the run.

    Raises:
        RunDirectoryError: The run is of another experiment, or its config can't be read.
    """
    difference = find_difference(read_settings(directory), tomllib.loads(experiment.to_toml()))
    if difference:
        raise RunDirectoryError(
            f"{directory} holds a run of another experiment, with {difference}; choose another out (--out), or remove "
            "it."
        )


def find_difference(there: Mapping[str, Any], here: Mapping[str, Any]) -> str | None:
    """Returns in words where two resolved configs differ first; how the arithmetic is spread does not count.

    Args:
        there: The settings of a run directory, by section.
        here: Those of the experiment that is to be run.

    Returns:
        As in "epochs = 6, not 9"; None if the two are the same experiment.
    """
    stored, wanted = flatten(there), flatten(here)
    for key in dict.fromkeys((*wanted, *stored)):
        if key not in SPREADING and (stored.get(key) != wanted.get(key)):
            was, now = (f"{table[key]}" if key in table else "unset" for table in (stored, wanted))
            return f"{key} = {was}, not {now}" if key in stored else f"{key} unset, not {now}"
    return None
