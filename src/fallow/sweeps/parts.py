"""Policies, energy models and other parts of an experiment, as the axes of a grid hold them: by name or as objects."""

from collections.abc import Mapping
from types import FunctionType
from typing import Any

from fallow.experiment import Experiment
from fallow.experiment.choices import CHOICES, as_table, choices_in
from fallow.experiment.sections import SECTIONS

CHOOSING = tuple(dict.fromkeys(choice.section for choice in CHOICES))
"""The sections that choose by name."""


def own_settings(section: str) -> dict[str, Any]:
    """Returns the settings that a section always has, whatever it chooses, with their defaults.

    Args:
        section: Such as "policy".
    """
    fields = SECTIONS[section].model_fields
    return {name: field.default for name, field in fields.items() if name != "parts"}


def is_complete(value: object) -> bool:
    """Returns whether a value is an instance. It has all of its options, so that a section adds nothing to it.

    Args:
        value: Of an axis: a name, a table, a class, a function or an instance.
    """
    return not isinstance(value, str | Mapping | type | FunctionType)


def label(section: str, value: object, *, full: bool = False) -> str:
    """Returns a part in a few letters, as in ``vaoi(k=5)``.

    Args:
        section: Such as "policy".
        value: The part: a name, a table, a class or an instance.
        full: Whether to show the module of a user's class.
    """
    field = choices_in(section)[0].field
    table = dict(as_table(section, value))
    name = str(table.pop(field, own_settings(section)[field]))
    if not full:
        name = name.rpartition(":")[2].rpartition(".")[2]
    options = ",".join(f"{key}={option}" for key, option in table.items())
    return f"{name}({options})" if options else name


def given_settings(experiment: Experiment) -> dict[str, Any]:
    """Returns what an experiment sets, by section. A section that sets anything also names what it chooses.

    Args:
        experiment: What is asked about; the defaults that it keeps are left out.
    """
    chosen = experiment.table()
    settings = experiment.given
    for choice in CHOICES:
        if choice.section in settings:
            named = {choice.field: chosen[choice.section][choice.field]}
            settings[choice.section] = named | settings[choice.section]
    return settings
