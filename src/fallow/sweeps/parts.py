"""Policies, energy models and other parts given as objects, seen as tables of settings."""

import inspect
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from fallow.experiment import Experiment, sections
from fallow.experiment.choices import CHOICES, Choice, choices_in

CHOOSING = tuple(dict.fromkeys(choice.section for choice in CHOICES))
"""The sections that choose by name."""


def as_table(section: str, value: object) -> dict[str, Any]:
    """Returns what stands for a part as settings: its name, and the options that were given.

    Args:
        section: A section that chooses, as in "policy".
        value: A name, a table, a class or function, or an instance; of an instance the options that differ from its
            class's defaults.
    """
    choice = choices_in(section)[0]
    if isinstance(value, str):
        return {choice.field: value}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, type) or inspect.isroutine(value):
        return {choice.field: _name(choice, value)}
    return {choice.field: _name(choice, type(value))} | _changed_options(value)


def own_settings(section: str) -> dict[str, Any]:
    """Returns the settings of a section that are there whatever it chooses, with their defaults."""
    fields = sections()[section].model_fields
    return {name: field.default for name, field in fields.items() if name != "options"}


def is_complete(value: object) -> bool:
    """Returns whether a value is an instance: it has all of its options, so that a section adds nothing to it."""
    return not isinstance(value, str | Mapping | type) and not inspect.isroutine(value)


def label(section: str, value: object, *, full: bool = False) -> str:
    """Returns a part in a few letters, as in ``vaoi(k=5)``; if `full`, with the module of a class of the user's."""
    table = as_table(section, value)
    choice = choices_in(section)[0]
    name = str(table.pop(choice.field, own_settings(section)[choice.field]))
    if not full:
        name = name.rpartition(":")[2].rpartition(".")[2]
    options = ",".join(f"{key}={option}" for key, option in table.items())
    return f"{name}({options})" if options else name


def parse(settings: Mapping[str, Any]) -> Experiment:
    """Returns the experiment of a table of settings whose parts may be objects."""
    plain = {key: as_table(key, value) if key in CHOOSING else value for key, value in settings.items()}
    return Experiment.parse(plain)


def given_settings(experiment: Experiment) -> dict[str, Any]:
    """Returns the settings of an experiment, by section."""
    return tomllib.loads(experiment.to_toml())


def bound_to_process(experiment: Experiment) -> str | None:
    """Returns the name of the first class or function of an experiment that only this process knows, if any."""
    for choice in CHOICES:
        name = str(getattr(experiment, choice.section).model_dump()[choice.field])
        if name.startswith("__main__:") or "<locals>" in name:
            return name.partition(":")[2]
    return None


def _name(choice: Choice, part: Any) -> str:
    own = [name for name, cls in choice.table.items() if cls is part]
    return own[0] if own else f"{part.__module__}:{part.__qualname__}"


def _changed_options(instance: object) -> dict[str, Any]:
    changed = {}
    for field in fields(instance) if is_dataclass(instance) else ():
        default = field.default if field.default_factory is MISSING else field.default_factory()
        value = vars(instance)[field.name]
        if default is MISSING or value != default:
            changed[field.name] = value
    return changed
