"""The description of a run: sections, choices, TOML, template."""

from typing import TYPE_CHECKING

from fallow.plugins.lazy import load_on_first_use

if TYPE_CHECKING:
    from fallow.experiment.experiment import Experiment as Experiment
    from fallow.experiment.given import bound_to_process as bound_to_process
    from fallow.experiment.given import check_experiment as check_experiment
    from fallow.experiment.template import annotated_toml as annotated_toml

__getattr__, __dir__, __all__ = load_on_first_use(
    __name__,
    {
        "Experiment": "fallow.experiment.experiment",
        "annotated_toml": "fallow.experiment.template",
        "bound_to_process": "fallow.experiment.given",
        "check_experiment": "fallow.experiment.given",
    },
)
