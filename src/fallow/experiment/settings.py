"""Tables of settings before they are an experiment: read from TOML, changed by ``key=value``."""

import tomllib
from pathlib import Path
from typing import Any

from fallow.errors import ConfigError


def read_settings(path: Path | None) -> dict[str, Any]:
    """Returns the settings in a TOML file.

    Args:
        path: The file; None gives no settings.

    Raises:
        ConfigError: The file can't be read, or is not valid TOML.
    """
    if path is None:
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"The config {path} can't be read: {error.strerror or error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"The config {path} is not valid TOML: {error}.") from None


def override(settings: dict[str, Any], assignment: str) -> None:
    """Changes one setting, in place.

    Args:
        settings: Settings by section.
        assignment: As in ``section.key=value``.

    Raises:
        ConfigError: `assignment` has another form, or names no section.

    Examples:
        >>> settings = {"seed": 1}
        >>> override(settings, "energy.p=0.1")
        >>> settings
        {'seed': 1, 'energy': {'p': 0.1}}
    """
    path, equals, text = assignment.partition("=")
    if not equals or not path.strip():
        raise ConfigError(f"'{assignment}' is not of the form key=value, as in energy.p=0.01.")
    put(settings, path.strip(), value_of(text))


def put(settings: dict[str, Any], path: str, value: Any) -> None:
    """Sets the setting at a dotted path, in place.

    Args:
        settings: Settings by section.
        path: As in ``energy.p``.
        value: The new value.

    Raises:
        ConfigError: A part of the path is no section.
    """
    *sections, key = [part.strip() for part in path.split(".")]
    for section in sections:
        settings = settings.setdefault(section, {})
        if not isinstance(settings, dict):
            raise ConfigError(f"'{path}' can't be set: '{section}' is not a section.")
    settings[key] = value


def value_of(text: str) -> Any:
    """Returns a value as TOML reads it; a word without quotes is a text, as in ``policy.name=vaoi``.

    Examples:
        >>> value_of("0.5"), value_of("[1, 2]"), value_of("vaoi")
        (0.5, [1, 2], 'vaoi')
    """
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text.strip()
