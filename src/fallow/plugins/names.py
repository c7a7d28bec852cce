"""From a name to the thing it names: a table's own, or ``module:attribute`` from anywhere."""

import sys
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from fallow.errors import ConfigError

NEAR = 0.6
"""How alike two names must be, from 0 to 1; what is less alike is no slip of the pen."""


def nearest(name: str, valid: Iterable[str]) -> str | None:
    """Returns the valid name that `name` was probably meant to be, if any is near."""
    by_lower = {one.lower(): one for one in sorted(valid)}
    near = get_close_matches(name.lower(), by_lower, n=1, cutoff=NEAR)
    return by_lower[near[0]] if near else None


def did_you_mean(name: str, valid: Iterable[str]) -> str:
    """Returns ``"; did you mean 'x'?"`` for the valid name nearest to `name`, or the list of valid names."""
    names = sorted(valid)
    near = nearest(name, names)
    return f"; did you mean '{near}'?" if near else f"; valid names are {', '.join(names)}."


def in_words(error: BaseException) -> str:
    """Returns an error's type and what it says, in one line without a full stop."""
    words = " ".join(str(error).split()).rstrip(".")
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def resolve(name: str, table: Mapping[str, type], what: str) -> type[Any]:
    """Returns the class that `name` stands for: a key of `table`, or ``module:Class``.

    Args:
        name: As the user wrote it.
        table: The project's own classes of this kind.
        what: Their kind in words, for the error sentence.
    """
    if name in table:
        return table[name]
    if ":" not in name:
        raise ConfigError(f"There is no {what} '{name}'{did_you_mean(name, table)}")
    found = import_attribute(name, what)
    if not isinstance(found, type):
        raise ConfigError(f"The {what} '{name}' must be a class; it is a {type(found).__name__}.")
    return found


def import_attribute(name: str, what: str) -> Any:
    """Returns what ``module:attribute`` names; modules are looked for in the working directory too."""
    module_name, _, attribute = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = import_module(module_name)
    except (Exception, SystemExit) as error:  # whatever the user's module raises is the reason to show
        raise ConfigError(
            f"The {what} '{name}' can't be loaded: importing '{module_name}' failed with {in_words(error)}."
        ) from error
    if not hasattr(module, attribute):
        raise ConfigError(
            f"The {what} '{name}' can't be loaded: module '{module_name}' has no '{attribute}'"
            f"{did_you_mean(attribute, [n for n in vars(module) if not n.startswith('_')])}"
        )
    return getattr(module, attribute)
