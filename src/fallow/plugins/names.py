"""From a name to an object: in a table, in an installed package, or ``module:attribute`` from anywhere."""

import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from fallow.errors import ConfigError
from fallow.plugins.installed import installed, load_installed
from fallow.plugins.objects import MAIN, find_given
from fallow.plugins.wording import did_you_mean, in_words


def resolve(name: str, table: Mapping[str, type], what: str, group: str = "") -> type[Any]:
    """Returns the class that `name` stands for: in `table`, in an installed package, or as ``module:Class``.

    Args:
        name: As the user wrote it.
        table: Fallow's classes of this kind, by name.
        what: The kind in words, for the error sentence.
        group: The entry points through which installed packages offer more of this kind; none if empty.

    Raises:
        ConfigError: There is no such name, or it can't be loaded, or it is no class.

    Examples:
        >>> from fallow.policies import POLICIES
        >>> resolve("vaoi", POLICIES, "policy")
        <class 'fallow.policies.vaoi.VAoI'>
    """
    if name in table:
        return table[name]
    found = find_outside(name, table, what, group)
    if not isinstance(found, type):
        raise ConfigError(f"The {what} '{name}' must be a class; it is a {type(found).__name__}.")
    return found


def find_outside(name: str, table: Mapping[str, type], what: str, group: str = "") -> Any:
    """Returns the object that a name outside `table` stands for: in an installed package, or as ``module:attribute``.

    Args:
        name: As the user wrote it.
        table: Fallow's classes of this kind, by name, for the error sentence.
        what: The kind in words, for the error sentence.
        group: The entry points through which installed packages offer more of this kind; none if empty.

    Raises:
        ConfigError: There is no such name, or it can't be loaded.
    """
    if ":" in name:
        return import_attribute(name, what)
    offered = installed(group) if group else {}
    if name not in offered:
        raise ConfigError(f"There is no {what} '{name}'{did_you_mean(name, table.keys() | offered.keys())}")
    return load_installed(offered[name], what)


def import_attribute(name: str, what: str) -> Any:
    """Returns the object with the name ``module:attribute``; also finds modules in the working directory.

    Args:
        name: As in ``my_module:MyPolicy``.
        what: The kind in words, for the error sentence.

    Raises:
        ConfigError: The module can't be imported, or has no such attribute.
    """
    given = find_given(name)
    if given is not None:
        return given
    module_name, _, attribute = name.partition(":")
    if module_name == MAIN or "<" in attribute:
        raise ConfigError(
            f"The {what} '{name}' was defined in a notebook, a script or a function, and only the process that defined "
            f"it can use it; put it into a module, such as mine.py, and name it mine:{attribute.split('.')[-1]} in "
            "the config."
        )
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = import_module(module_name)
    except (Exception, SystemExit) as error:  # whatever the user's module raises is the reason to show
        raise ConfigError(
            f"The {what} '{name}' can't be loaded: importing '{module_name}' failed with {in_words(error)}."
        ) from error
    found: Any = module
    for part in attribute.split("."):
        if part not in dir(found):
            raise ConfigError(
                f"The {what} '{name}' can't be loaded: module '{module_name}' has no '{attribute}'"
                f"{did_you_mean(attribute, [n for n in vars(module) if not n.startswith('_')])}"
            )
        found = getattr(found, part)
    return found
