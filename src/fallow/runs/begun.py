"""The experiment of a run that was begun, to go on with it or to build its model again."""

from pathlib import Path

from fallow.experiment import Experiment
from fallow.runs.layout import CONFIG
from fallow.runs.reader import read_settings


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
    """
    if experiment is None:
        return read_experiment(directory)
    strategy = read_settings(directory).get("compute", {}).get("strategy", experiment.compute.strategy)
    return experiment.model_copy(update={"compute": experiment.compute.model_copy(update={"strategy": strategy})})
