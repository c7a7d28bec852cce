"""What must be right before the first run of a sweep begins."""

from collections.abc import Iterable

from fallow.data import loaded
from fallow.errors import RunDirectoryError
from fallow.experiment import Experiment
from fallow.policies import needs_of
from fallow.runs.begun import check_same
from fallow.runs.layout import check_place, is_begun
from fallow.sweeps.grid import PlannedRun


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
        if is_begun(run.directory):
            check_same(run.experiment, run.directory)


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
