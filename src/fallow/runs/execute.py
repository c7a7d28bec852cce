"""Carrying out runs."""

from pathlib import Path

from fallow.experiment import Experiment
from fallow.runs.layout import CONFIG
from fallow.runs.reader import read_settings


def read_experiment(directory: Path) -> Experiment:
    """Returns the experiment of a run directory, to go on with it; whether it could be run here does not matter.

    Unlike ``reader.read_settings``, this imports what the config names.
    """
    read_settings(directory)
    return Experiment.read(directory / CONFIG, to_run=False)
