"""Settings that all runs of a grid share, though what they belong to differs from run to run.

``policy.k = 5`` over vaoi and fedavg is meant for vaoi, which has a k. What none of them has is left where it is, so
that the experiment says in its usual sentence that there is no such option.
"""

import itertools
from collections.abc import Iterable, Mapping, Set
from copy import deepcopy
from typing import Any

from fallow.experiment.choices import as_table, choices_in
from fallow.experiment.settings import put
from fallow.plugins.options import option_names
from fallow.sweeps.axes import Grid
from fallow.sweeps.parts import CHOOSING, is_complete, own_settings


def fit_section(section: str, shared: Mapping[str, Any], value: object, of_any: Set[str]) -> object:
    """Returns a section of one run, made of what all runs share and of what this one chooses.

    Args:
        section: A section that chooses, as in "policy".
        shared: What all runs share of it.
        value: This run's choice: a name, a table, a class or an instance.
        of_any: The settings that the section may have in any of the runs, as `known_to_any` returns them.

    Returns:
        `value` itself if it is an instance, which has all of its options; else a table, in which the options of
        `shared` that other choices have and this one lacks are left out.
    """
    if is_complete(value):
        return value
    chosen = as_table(section, value)
    here = known_options(section, {**shared, **chosen})
    return {key: item for key, item in shared.items() if key in here or key not in of_any} | chosen


def known_to_any(section: str, shared: Mapping[str, Any], values: Iterable[object]) -> set[str]:
    """Returns the settings that a section may have with any of several choices, or with the one that it names itself.

    So an experiment with ``VAoI(reset="aggregated")`` can be compared with policies that have no reset.

    Args:
        section: Such as "policy".
        shared: The settings of the section that all runs share.
        values: The choices.
    """
    tables = [{**shared, **as_table(section, value)} for value in values]
    if any(choice.field in shared for choice in choices_in(section)):
        tables.append(dict(shared))
    return set().union(*(known_options(section, table) for table in tables))


def known_options(section: str, table: Mapping[str, Any]) -> set[str]:
    """Returns the settings that a section may have with what it chooses: its own, and those options.

    Args:
        section: Such as "policy".
        table: The settings of the section, with the name that it chooses.

    Raises:
        ConfigError: If a name stands for nothing.
    """
    own = own_settings(section)
    known = set(own)
    for choice in choices_in(section):
        name = table.get(choice.field, own[choice.field])
        known |= option_names(choice.resolve(name)) if isinstance(name, str) else set()
    return known


class ChosenSections:
    """The settings at each point of a grid.

    Args:
        shared: The settings of all runs, by section.
        grid: Values by setting or section.
    """

    def __init__(self, shared: Mapping[str, Any], grid: Grid) -> None:
        self._shared = shared
        self._fields = {section: [choice.field for choice in choices_in(section)] for section in CHOOSING}
        self._tables: dict[str, dict[str, Any]] = {}
        self._known: dict[str, set[str]] = {}
        for section in CHOOSING:
            axes = {key: values for key, values in grid.items() if self._chooses(section, key)}
            table = shared.get(section, {})
            if axes and isinstance(table, str | Mapping):  # anything else the experiment refuses in words
                self._tables[section] = as_table(section, table)
                points = [dict(zip(axes, point, strict=True)) for point in itertools.product(*axes.values())]
                chosen = [self._choice(section, point) for point in points]
                self._known[section] = known_to_any(section, self._tables[section], chosen)

    def settings_at(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the settings of the run at a point of the grid.

        Args:
            point: Values by setting or section.
        """
        settings = deepcopy(dict(self._shared))
        for section, table in self._tables.items():
            settings[section] = fit_section(section, table, self._choice(section, point), self._known[section])
        for key, value in point.items():
            if key.partition(".")[0] in self._tables and self._chooses(key.partition(".")[0], key):
                continue
            if isinstance(value, Mapping) and isinstance(settings.get(key), Mapping):
                settings[key] = {**settings[key], **value}
            else:
                put(settings, key, value)
        return settings

    def _chooses(self, section: str, key: str) -> bool:
        return key == section or key in [f"{section}.{field}" for field in self._fields[section]]

    def _choice(self, section: str, point: Mapping[str, Any]) -> object:
        """Returns what a point chooses for a section: an object, or the names of its fields."""
        if section in point:
            return point[section]
        names = ((field, f"{section}.{field}") for field in self._fields[section])
        return {field: point[key] for field, key in names if key in point}
