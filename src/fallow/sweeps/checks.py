"""What must be right before the first run of a sweep begins."""

import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from fallow.data import loaded
from fallow.errors import RunDirectoryError
from fallow.experiment import Experiment
from fallow.plugins.nested import flatten
from fallow.policies import needs_of
from fallow.runs.layout import check_place, is_begun
from fallow.runs.reader import read_settings
from fallow.sweeps.grid import PlannedRun

SPREADING = ("compute.strategy", "compute.workers")
"""How the arithmetic is spread: it may differ between two parts of one run."""


def check_directories(runs: Iterable[PlannedRun]) -> None:
    """Checks that every run can begin, or go on, in its directory.

    Args:
        runs: With their directories, which need not exist.

    Raises:
        RunDirectoryError: If a directory is a file or holds a run of another experiment.
    """
    runs = list(runs)
    for folder in dict.fromkeys(run.directory.parent for run in runs):
        check_place(folder)
        if is_begun(folder):
            raise RunDirectoryError(f"{folder} holds a run; choose another out (--out).")
    for run in runs:
        if not is_begun(run.directory):
            continue
        difference = find_difference(read_settings(run.directory), tomllib.loads(run.experiment.to_toml()))
        if difference:
            raise RunDirectoryError(
                f"{run.directory} holds a run of another experiment, with {difference}; choose another out (--out), or "
                "remove it."
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


def check_inputs(experiments: Iterable[Experiment]) -> None:
    """Reads every trace and every dataset once, so that a missing or wrong one is found before anything runs.

    Args:
        experiments: What will be run.
    """
    read: set[str] = set()
    for experiment in experiments:
        sizes = (experiment.clients, experiment.slots_per_epoch, experiment.scale)
        needs = needs_of(experiment.build("policy"))
        forecasts = needs.forecast_epochs > 0 and needs.forecast_by == "model"
        of_classes = [
            (device.share, device.energy, device.energy and device.energy.parts) for device in experiment.device
        ]
        harvest = f"{experiment.energy} {experiment.energy.parts} {of_classes} {sizes} {forecasts}"
        if harvest not in read:
            experiment.build_harvest()
            if forecasts:
                experiment.build_forecast()
            read.add(harvest)
        dataset = experiment.build("data")
        if experiment.learning.mode == "train" and f"{dataset}" not in read:
            loaded(dataset, experiment.seed, name=experiment.data.name)
            read.add(f"{dataset}")
