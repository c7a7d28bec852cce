"""Nested tables of settings: made plain, made ready for TOML, made flat."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Returns a value as a config holds it: sequences and arrays as tuples, NumPy's numbers as Python's, paths as text.

    Examples:
        >>> plain({"p": [0.1, 0.2], "seeds": range(2)})
        {'p': (0.1, 0.2), 'seeds': (0, 1)}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple | range):
        return tuple(plain(item) for item in value)
    if isinstance(value, PurePath):
        return str(value)
    return {key: plain(item) for key, item in value.items()} if isinstance(value, Mapping) else value


def thawed(value: Any) -> Any:
    """Returns a value with its tuples as lists, for TOML."""
    if isinstance(value, list | tuple):
        return [thawed(item) for item in value]
    return {key: thawed(item) for key, item in value.items()} if isinstance(value, dict) else value


def flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Returns a nested table as one of dotted keys.

    Examples:
        >>> flatten({"seed": 1, "energy": {"p": 0.1}})
        {'seed': 1, 'energy.p': 0.1}
    """
    flat: dict[str, Any] = {}
    for key, value in table.items():
        flat |= flatten(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {f"{prefix}{key}": value}
    return flat


def nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a table of dotted keys as a nested one.

    Examples:
        >>> nested({"seed": 1, "energy.p": 0.1, "energy.model": "bernoulli"})
        {'seed': 1, 'energy': {'p': 0.1, 'model': 'bernoulli'}}
    """
    table: dict[str, Any] = {}
    for key, value in flat.items():
        *sections, name = key.split(".")
        place = table
        for section in sections:
            place = place.setdefault(section, {})
        place[name] = value
    return table
