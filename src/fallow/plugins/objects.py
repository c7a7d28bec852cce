"""From an object to a name and options: how a config describes a class or an instance from Python."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import FunctionType
from typing import Any

from fallow.errors import ConfigError
from fallow.plugins.nested import plain

MAIN = "__main__"

_given: dict[str, Any] = {}
"""Classes and functions that users of this process gave as objects, by their names in configs."""


def find_given(name: str) -> Any | None:
    """Returns the class or function that was given as an object under a name in this process; None if none was."""
    return _given.get(name)


def known_only_here(name: str) -> bool:
    """Returns whether only this process can find the object of a name, because no importable module holds it.

    Args:
        name: As in ``module:Class``.

    Examples:
        >>> known_only_here("__main__:MyPolicy")
        True
        >>> known_only_here("my_module:MyPolicy")
        False
    """
    module, _, attribute = name.partition(":")
    return module == MAIN or "<" in attribute


def name_of(thing: type | FunctionType, table: Mapping[str, type], what: str) -> str:
    """Returns the name of a class or function in configs, and remembers the object under this name.

    Args:
        thing: A class or function from the user.
        table: Fallow's classes of this kind, by name.
        what: The kind in words, for the error sentence.

    Raises:
        ConfigError: `thing` is a lambda, which has no name.
    """
    for name, cls in table.items():
        if cls is thing:
            return name
    if thing.__name__ == "<lambda>":
        raise ConfigError(f"The {what} is a lambda, for which a config has no name; write it as a function with def.")
    name = f"{thing.__module__}:{thing.__qualname__}"
    _given[name] = thing
    return name


def describe(thing: Any, field: str, table: Mapping[str, type], what: str) -> dict[str, Any]:
    """Returns a name, a class, a function or an instance as settings: its name, and the options that are not defaults.

    Args:
        thing: A name, a class, a function or an instance.
        field: The setting that holds the name.
        table: Fallow's classes of this kind, by name.
        what: The kind in words, for the error sentence.

    Raises:
        ConfigError: `thing` is something else, or an instance of a class that is no dataclass.

    Examples:
        >>> from fallow.policies import POLICIES, VAoI
        >>> describe(VAoI(k=5), "name", POLICIES, "policy")
        {'name': 'vaoi', 'k': 5}
    """
    if isinstance(thing, str):
        return {field: thing}
    if isinstance(thing, type | FunctionType):
        return {field: name_of(thing, table, what)}
    cls = type(thing)
    if not is_dataclass(cls):
        if cls.__module__ == "builtins":
            raise ConfigError(
                f"The {what} can't be {thing!r}; give a name, a table of a name and options, a class or an object."
            )
        raise ConfigError(
            f"The {what} {cls.__name__} must be a frozen dataclass, whose fields are its options: decorate the class "
            "with @dataclass(frozen=True)."
        )
    return {field: name_of(cls, table, what)} | changed_options(thing)


def changed_options(thing: Any) -> dict[str, Any]:
    """Returns the fields of a dataclass instance that differ from their defaults, as plain values.

    Args:
        thing: An instance of a dataclass.

    Examples:
        >>> from fallow.policies import VAoI
        >>> changed_options(VAoI(k=5))
        {'k': 5}
    """
    changed = {}
    for option in fields(thing):
        value = plain(vars(thing)[option.name]) if option.init else None
        default = option.default if option.default_factory is MISSING else option.default_factory()
        if option.init and (default is MISSING or value != plain(default)):
            changed[option.name] = value
    return changed
