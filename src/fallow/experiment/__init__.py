"""The description of a run: sections, choices, TOML, template."""

from fallow.experiment.experiment import Experiment, bound_to_process
from fallow.experiment.template import annotated_toml

__all__ = ["Experiment", "annotated_toml", "bound_to_process"]
