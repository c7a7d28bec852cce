"""What Python gives for the sections of an experiment, as the tables that TOML would hold."""

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from fallow.energy.mix import names_in
from fallow.errors import ConfigError
from fallow.experiment.choices import CHOICES, as_table
from fallow.experiment.sections import SECTIONS, Choosing
from fallow.plugins.objects import changed_options, known_only_here
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


def changed_settings(experiment: "Experiment") -> dict[str, Any]:
    """Returns the settings that differ from the defaults, by section; of classes of devices, what the user stated.

    Args:
        experiment: What is asked about.
    """
    given: dict[str, Any] = {}
    for name, value in experiment:
        if name == "device":
            given |= {"device": [deepcopy(device.stated) for device in value]} if value else {}
            continue
        if not isinstance(value, BaseModel):
            changed = {} if value == type(experiment).model_fields[name].default else {name: value}
            given |= changed
            continue
        own = {key: held for key, held in value if key in value.model_fields_set and key != "parts"}
        section = {key: held for key, held in own.items() if held != type(value).model_fields[key].default}
        parts = value.parts.values() if isinstance(value, Choosing) else ()
        for part in parts:
            section |= changed_options(part)
        if section:
            given[name] = section
    return given


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
    for energy in (experiment.energy, *(device.energy for device in experiment.device)):
        if energy is not None:
            chosen += names_in(energy.model, energy.options)
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
