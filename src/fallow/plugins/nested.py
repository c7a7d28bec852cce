"""Nested tables of settings: made plain, made ready for TOML, made flat."""

from collections.abc import Mapping
from datetime import date
from pathlib import PurePath
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Returns a value as a config holds it: lists as tuples, NumPy numbers as Python numbers, paths and dates as text.

    Args:
        value: A setting, or a table of settings.

    Examples:
        >>> plain({"p": [0.1, 0.2], "seeds": range(2)})
        {'p': (0.1, 0.2), 'seeds': (0, 1)}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple | range):
        return tuple(plain(item) for item in value)
    if isinstance(value, float):
        return value + 0.0  # −0.0 is 0.0: NumPy draws no number from 0.0 to −0.0
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, date):  # a datetime too: TOML has both, and a time of day says its offset
        return value.isoformat()
    return {key: plain(item) for key, item in value.items()} if isinstance(value, Mapping) else value


def thawed(value: Any) -> Any:
    """Returns a value with its tuples as lists, for TOML.

    Args:
        value: A setting, or a table of settings.

    Examples:
        >>> thawed({"p": (0.1, 0.2)})
        {'p': [0.1, 0.2]}
    """
    if isinstance(value, list | tuple):
        return [thawed(item) for item in value]
    return {key: thawed(item) for key, item in value.items()} if isinstance(value, dict) else value


def flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Returns a nested table as a table of dotted keys.

    Args:
        table: Settings, in which a value may be another table.
        prefix: What every key begins with.

    Examples:
        >>> flatten({"seed": 1, "energy": {"p": 0.1}})
        {'seed': 1, 'energy.p': 0.1}
    """
    flat: dict[str, Any] = {}
    for key, value in table.items():
        flat |= flatten(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {f"{prefix}{key}": value}
    return flat


def by_name(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Returns flat settings in which the settings of tables that have names, as [[device]] has, are keys of their own.

    Args:
        flat: Settings by dotted keys, in which a value may be a list of tables.

    Examples:
        >>> by_name({"seed": 1, "device": [{"name": "node", "train": 3, "origin": "estimated"}]})
        {'seed': 1, 'device.node.train': 3}
    """
    spelled: dict[str, Any] = {}
    for key, value in flat.items():
        tables = value if isinstance(value, list | tuple) else ()
        if not tables or not all(isinstance(table, Mapping) and "name" in table for table in tables):
            spelled[key] = value
            continue
        for table in tables:
            own = {option: held for option, held in table.items() if option not in ("name", "origin")}
            spelled |= flatten(own, f"{key}.{table['name']}.")
    return spelled


def nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a table of dotted keys as a nested table.

    Args:
        flat: Settings by dotted keys.

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
