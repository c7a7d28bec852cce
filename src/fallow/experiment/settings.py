"""Tables of settings before they are an experiment: read from TOML, changed by ``key=value``."""

import tomllib
from pathlib import Path
from typing import Any

from fallow.errors import ConfigError


def read_settings(path: Path | None) -> dict[str, Any]:
    """Returns the settings in a TOML file; None has none."""
    if path is None:
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"The config {path} can't be read: {error.strerror or error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"The config {path} is not valid TOML: {error}.") from None


def override(settings: dict[str, Any], assignment: str) -> None:
    """Applies one ``section.key=value``, in place."""
    path, equals, text = assignment.partition("=")
    if not equals or not path.strip():
        raise ConfigError(f"'{assignment}' is not of the form key=value, as in energy.p=0.01.")
    put(settings, path.strip(), value_of(text))


def put(settings: dict[str, Any], path: str, value: Any) -> None:
    """Sets what a dotted path names, in place."""
    *sections, key = [part.strip() for part in path.split(".")]
    for section in sections:
        settings = settings.setdefault(section, {})
        if not isinstance(settings, dict):
            raise ConfigError(f"'{path}' can't be set: '{section}' is not a section.")
    settings[key] = value


def value_of(text: str) -> Any:
    """Returns a value as TOML reads it; a bare word is a text, as in policy.name=vaoi."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text.strip()
