"""Nested tables of settings: made immutable, made ready for TOML, made flat."""

from collections.abc import Mapping
from typing import Any


def frozen(value: Any) -> Any:
    """Lists become tuples, so that an experiment can't change."""
    if isinstance(value, list):
        return tuple(frozen(item) for item in value)
    return {key: frozen(item) for key, item in value.items()} if isinstance(value, dict) else value


def thawed(value: Any) -> Any:
    """Tuples become lists, for TOML."""
    if isinstance(value, list | tuple):
        return [thawed(item) for item in value]
    return {key: thawed(item) for key, item in value.items()} if isinstance(value, dict) else value


def flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Returns a nested table as one of dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        flat |= flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat
