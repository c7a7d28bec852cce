"""The axes of a grid as Python gives them: any iterable, objects and names, dots as two underscores."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import numpy as np

from fallow.errors import ConfigError
from fallow.experiment import Experiment
from fallow.experiment.choices import as_table, choices_in
from fallow.plugins.wording import did_you_mean
from fallow.sweeps.parts import CHOOSING, label

Grid = dict[str, list[Any]]
"""Values by the full name of a setting, as in {"policy.name": ["vaoi", "fedavg"], "seed": [0, 1, 2]}, or of a section,
as in {"policy": [VAoI(k=5), FedAvg()]}."""

MOST_VALUES = 1_000_000
"""Most values of an axis."""

UNSAFE = str.maketrans(dict.fromkeys('<>:"/\\|?*', "_"))
"""What a file's name may not hold on some system or other."""


def list_axes(axes: Mapping[str, Any], also: Iterable[str] = ()) -> Grid:
    """Returns the grid of some axes.

    Args:
        axes: Values by setting: "energy.p" or energy__p, or a section such as policy with names and objects.
        also: Other names that the user may have meant, for the error sentence.

    Raises:
        ConfigError: If there is no such setting, or the values are no list.
    """
    grid: Grid = {}
    for key, values in axes.items():
        setting = key.replace("__", ".")
        if setting.partition(".")[0] not in Experiment.model_fields:
            raise ConfigError(
                f"There is no setting '{setting}'{did_you_mean(setting, [*Experiment.model_fields, *also])}"
            )
        if setting in grid:
            raise ConfigError(f"The axis {setting} is given twice; put all of its values into one.")
        grid[setting] = list_values(setting, values)
    return grid


def list_values(setting: str, values: Any) -> list[Any]:
    """Returns the values of an axis as a list.

    Args:
        setting: The axis, for error messages.
        values: A list, a range, an array or a generator.

    Raises:
        ConfigError: If it is a single value, or there are too many.
    """
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        shown = repr(values)
        raise ConfigError(f"The axis {setting} is the single value {shown}; give a list of values, as in [{shown}].")
    listed = [value.item() if isinstance(value, np.generic) else value for value in islice(values, MOST_VALUES + 1)]
    if len(listed) > MOST_VALUES:
        raise ConfigError(f"The axis {setting} has more than {MOST_VALUES} values; each is a run or more.")
    return listed


def name_axes(grid: Grid) -> Grid:
    """Returns a grid in which a section that is chosen by plain names alone is an axis of names.

    So ``policy=["vaoi", "fedavg"]`` is the same grid, in the same directories, as ``--grid policy.name=vaoi,fedavg``.

    Args:
        grid: Values by setting or section.
    """
    named: Grid = {}
    for key, values in grid.items():
        names = [value for value in values if isinstance(value, str)] if isinstance(values, list) else []
        only_names = key in CHOOSING and bool(names) and names == values
        named[f"{key}.{choices_in(key)[0].field}" if only_names else key] = values
    return named


def check_axes(grid: Grid) -> None:
    """Checks that every axis has values, each once.

    Args:
        grid: Values by setting or section.

    Raises:
        ConfigError: If one has not, or a section and a setting of it are two axes.
    """
    for key, values in grid.items():
        if not isinstance(values, list) or not values:
            raise ConfigError(f"The axis {key} must be a list of at least one value, not {values}.")
        if len({_identity(key, value) for value in values}) < len(values):
            raise ConfigError(f"The axis {key} holds a value twice: {values}.")
        section = key.partition(".")[0]
        if section != key and section in grid:
            raise ConfigError(f"{section} and {key} can't both be axes; give {key} with each value of {section}.")


def label_values(setting: str, values: list[Any]) -> list[Any]:
    """Returns how the values of an axis are shown: those of a section in a few letters, others as they are.

    Where two classes of the same name would look the same, the name of their module stands before it.

    Args:
        setting: The axis: a setting, or a section such as "policy".
        values: Of the axis.
    """
    if setting not in CHOOSING:
        return values
    short = [value if isinstance(value, str) else label(setting, value).translate(UNSAFE) for value in values]
    return [
        one if short.count(one) == 1 else label(setting, value, full=True).translate(UNSAFE)
        for one, value in zip(short, values, strict=True)
    ]


def _identity(setting: str, value: object) -> str:
    return repr(as_table(setting, value) if setting in CHOOSING else value)
