"""What Python gives for the sections of an experiment, as the tables that TOML would hold."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from fallow.energy.mix import names_in
from fallow.errors import ConfigError
from fallow.experiment.choices import CHOICES, as_table
from fallow.experiment.sections import SECTIONS, Choosing
from fallow.plugins.objects import known_only_here
from fallow.trackers import tracker_name

if TYPE_CHECKING:
    from fallow.experiment.experiment import Experiment


def section_table(key: str, value: Any) -> Any:
    """Returns a section, or a setting without one, that was given in Python, as TOML would hold it.

    Args:
        key: The name of the section or setting.
        value: A table, an object, a name, or the setting's value.

    Raises:
        ConfigError: An object stands where none can.
    """
    if isinstance(value, Choosing):
        return value.model_dump() | value.options
    if isinstance(value, BaseModel):
        return value.model_dump()
    if key == "learning" and isinstance(value, str):
        return {"mode": value}
    if key == "output" and isinstance(value, Mapping) and "trackers" in value:
        names = value["trackers"]
        several = isinstance(names, list | tuple)
        return {**value, "trackers": [tracker_name(name) for name in names] if several else tracker_name(names)}
    return as_table(key, value) if key in SECTIONS else value


def bound_to_process(experiment: "Experiment") -> str | None:
    """Returns the first class or function of an experiment that only this process knows; None if there is none.

    Such a class is defined in a notebook, in the script that runs, or inside a function. No other process can import
    it.

    Args:
        experiment: The experiment.

    Returns:
        The name of the class or function, as in ``__main__:MyPolicy``.

    Examples:
        >>> from fallow.experiment import Experiment
        >>> bound_to_process(Experiment()) is None
        True
    """
    chosen = [getattr(getattr(experiment, choice.section), choice.field) for choice in CHOICES]
    chosen += names_in(experiment.energy.model, experiment.energy.options)
    return next((name for name in (*chosen, *experiment.output.trackers) if known_only_here(name)), None)


def check_experiment(given: object) -> None:
    """Raises `ConfigError` for what a user gave as an experiment and is something else, such as a path or a policy.

    Args:
        given: Anything.
    """
    from fallow.experiment.experiment import Experiment  # which imports this module

    if isinstance(given, Experiment):
        return
    if isinstance(given, str | Path):
        raise ConfigError(
            f"The experiment can't be the path '{given}'; read it with fallow.Experiment.read({str(given)!r})."
        )
    if isinstance(given, Mapping):
        raise ConfigError("The experiment can't be a dict; make one of it with fallow.Experiment(**settings).")
    shown = given.__name__ if isinstance(given, type) else type(given).__name__
    raise ConfigError(
        f"The experiment can't be {'the class' if isinstance(given, type) else 'of the type'} {shown}; give a "
        "fallow.Experiment, as in fallow.Experiment(epochs=100, policy='vaoi')."
    )
