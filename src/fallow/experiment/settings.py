"""Tables of settings before they are an experiment: read from TOML, changed by ``key=value``."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fallow.errors import ConfigError
from fallow.plugins.values import MOST_LEVELS, check_values
from fallow.plugins.wording import did_you_mean, shortened
from fallow.storage.reading import load_toml, read_toml


def read_settings(path: Path | None) -> dict[str, Any]:
    """Returns the settings in a TOML file.

    Args:
        path: The file; None gives no settings.

    Raises:
        ConfigError: The file can't be read, or is not valid TOML.
    """
    return {} if path is None else read_toml(path, "The config", ConfigError)


def override(settings: dict[str, Any], assignment: str) -> None:
    """Changes one setting, in place.

    Args:
        settings: Settings by section.
        assignment: As in ``section.key=value``.

    Raises:
        ConfigError: `assignment` has another form, holds more than one setting, or names no section.

    Examples:
        >>> settings = {"seed": 1}
        >>> override(settings, "energy.p=0.1")
        >>> settings
        {'seed': 1, 'energy': {'p': 0.1}}
    """
    path, equals, text = assignment.partition("=")
    if not equals or not path.strip():
        raise ConfigError(f"'{shortened(assignment)}' is not of the form key=value, as in energy.p=0.01.")
    try:
        value = value_of(text)
    except ConfigError as error:
        raise ConfigError(f"'{shortened(assignment)}' can't be set: {error}") from None
    put(settings, path.strip(), value)


def put(settings: dict[str, Any], path: str, value: Any) -> None:
    """Sets the setting at a dotted path, in place.

    Args:
        settings: Settings by section.
        path: As in ``energy.p``; one of several tables by its place or its name, as in ``device.0.share``.
        value: The new value.

    Raises:
        ConfigError: A part of the path is no section.

    Examples:
        >>> settings = {"device": [{"name": "node", "share": 1}]}
        >>> put(settings, "device.node.share", 3)
        >>> settings
        {'device': [{'name': 'node', 'share': 3}]}
    """
    *sections, key = [part.strip() for part in path.split(".")]
    if len(sections) > MOST_LEVELS:
        raise ConfigError(f"'{shortened(path)}' can't be set: no setting has a name of {len(sections) + 1} parts.")
    here: Any = settings
    for section in sections:
        if isinstance(here, list | tuple) and here:
            here = _one_of(here, section, path)
        elif isinstance(here, dict):
            here = here.setdefault(section, {})
        if not isinstance(here, dict | list | tuple):
            raise ConfigError(f"'{path}' can't be set: '{section}' is not a section.")
    if not isinstance(here, dict):
        raise ConfigError(f"'{path}' can't be set: name one of the tables, as in {'.'.join(sections)}.0.{key}.")
    here[key] = value


def _one_of(tables: Sequence[Any], which: str, path: str) -> Any:
    """Returns one of several tables, by its place or by what its keys `name` or `profile` say."""
    names = [str(table.get("name") or table.get("profile", "")) if isinstance(table, dict) else "" for table in tables]
    if which in names:
        return tables[names.index(which)]
    if which.isdigit() and int(which) < len(tables):
        return tables[int(which)]
    valid = [name or str(place) for place, name in enumerate(names)]
    raise ConfigError(f"'{path}' can't be set: there is no '{which}'{did_you_mean(which, valid)}")


def value_of(text: str) -> Any:
    """Returns a value as TOML reads it; a word without quotes is a text, as in ``policy.name=vaoi``.

    Args:
        text: One value.

    Raises:
        ConfigError: `text` holds more than a value, or one that no setting can have.

    Examples:
        >>> value_of("0.5"), value_of("[1, 2]"), value_of("vaoi")
        (0.5, [1, 2], 'vaoi')
    """
    try:
        table = load_toml(f"value = {text}")
    except tomllib.TOMLDecodeError:
        check_values(text.strip())
        return text.strip()
    if len(table) > 1:
        raise ConfigError(f"'{shortened(text)}' holds more than one setting; give each by itself.")
    return table["value"]
