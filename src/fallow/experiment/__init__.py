"""The description of a run: sections, choices, TOML, template."""

from fallow.experiment.experiment import Experiment, sections
from fallow.experiment.template import annotated_toml

__all__ = ["Experiment", "annotated_toml", "sections"]
