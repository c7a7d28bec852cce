"""Options: the fields of a dataclass, or the parameters of a user's function, checked against their annotations."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import MISSING, field, fields, is_dataclass, make_dataclass
from functools import cache, partial
from typing import Any, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from fallow.errors import ConfigError, FallowError
from fallow.plugins.nested import thawed
from fallow.plugins.validation import sentence
from fallow.plugins.wording import did_you_mean, in_words


def option_names(cls: type) -> set[str]:
    """Returns the names of a class's options: the fields of its constructor. Empty for a class that is no dataclass."""
    return {option.name for option in fields(cls) if option.init} if is_dataclass(cls) else set()


def option_values(thing: Any) -> dict[str, Any]:
    """Returns the options of an object by name, in the order of its fields.

    Args:
        thing: An instance of a dataclass.

    Examples:
        >>> from fallow.policies import RoundRobin
        >>> option_values(RoundRobin(k=5))
        {'k': 5}
    """
    return {option.name: vars(thing)[option.name] for option in fields(thing) if option.init}


def check_methods(what: str, cls: type, methods: Iterable[str]) -> None:
    """Checks that a class has the methods of its kind.

    Args:
        what: The class in words, as in "The policy 'my_module:Mine'".
        cls: A user's class.
        methods: The names of the methods that it must have.

    Raises:
        ConfigError: A method is missing.
    """
    for method in methods:
        if method not in dir(cls):
            raise ConfigError(f"{what} has no method '{method}'; it must have {' and '.join(methods)}.")


@cache
def _adapters(cls: type) -> dict[str, TypeAdapter[Any]]:
    """Returns what checks each option of a class; made once, because pydantic takes long."""
    hints = get_type_hints(cls, include_extras=True)
    strict = ConfigDict(strict=True, allow_inf_nan=False)
    return {name: TypeAdapter(hints[name], config=strict) for name in sorted(option_names(cls))}


def describe_options(cls: type) -> dict[str, tuple[Any, str | None]]:
    """Returns the default and the description of each option, by name.

    Args:
        cls: A dataclass; another class has no options.

    Returns:
        (default, description) by name. An option with the default ``dataclasses.MISSING`` must be given. The
        description is None where the field has none.
    """
    hints = get_type_hints(cls, include_extras=True)
    return {
        option.name: (
            option.default if option.default_factory is MISSING else option.default_factory(),
            TypeAdapter(hints[option.name]).json_schema().get("description"),
        )
        for option in (fields(cls) if is_dataclass(cls) else ())
    }


def with_options(what: str, cls: type, options: Mapping[str, Any], section: str = "") -> Any:
    """Returns `cls` made with `options`, each checked against its annotation.

    Args:
        what: The class in words, as in "The partition 'dirichlet'".
        cls: A dataclass; its fields are its options.
        options: Values by the names of options.
        section: The section of a config that holds the options, for the error sentence.

    Raises:
        ConfigError: An option is unknown, missing or wrong, or `cls` is no dataclass.

    Examples:
        >>> from fallow.policies import RoundRobin
        >>> with_options("The policy 'round-robin'", RoundRobin, {"k": 5}, section="policy")
        RoundRobin(k=5)
    """
    if not is_dataclass(cls):
        raise ConfigError(f"{what} must be a dataclass, whose fields are its options; it is {cls.__name__}.")
    known = {option.name: option for option in fields(cls) if option.init}
    prefix = f"{section}." if section else ""
    values: dict[str, Any] = {}
    for name, value in options.items():
        if name not in known:
            raise ConfigError(
                f"{what} has no option '{name}'" + (did_you_mean(name, known) if known else "; it has none.")
            )
        try:
            values[name] = _validated(_adapters(cls)[name], value)
        except ValidationError as error:
            raise ConfigError(sentence(error, setting=prefix + name)) from None
    for name, option in known.items():
        if name not in values and option.default is MISSING and option.default_factory is MISSING:
            raise ConfigError(f"{what} needs the option '{name}'; set {prefix}{name}.")
    try:
        return cls(**values)
    except FallowError:
        raise
    except (Exception, SystemExit) as error:  # a check in the user's class
        raise ConfigError(f"{what} refuses its options: {in_words(error)}.") from error


def _validated(adapter: TypeAdapter[Any], value: Any) -> Any:
    """Returns a checked value. A tuple is accepted for a list, because a config's lists are tuples here."""
    try:
        return adapter.validate_python(value)
    except ValidationError as as_tuple:
        if not isinstance(value, tuple):
            raise
        try:
            return adapter.validate_python(thawed(value))
        except ValidationError as as_list:
            # The error that lies deeper in the value says more.
            raise max(as_tuple, as_list, key=lambda error: len(error.errors()[0]["loc"])) from None


@cache
def options_of(what: str, function: Callable[..., Any], first: tuple[str, ...], method: Callable[..., Any]) -> type:
    """Returns a frozen dataclass whose fields are the parameters of a function, except the first ones.

    The same function gives the same class, so that its instances can be compared.

    Args:
        what: The function in words, for the error sentence.
        function: The user's function.
        first: The names of its first parameters, which Fallow fills in.
        method: ``method(function, options, …)`` calls the function; becomes the class's method of the same name.

    Raises:
        ConfigError: The function does not begin with the parameters `first`, or has parameters without a name.
    """
    parameters = list(inspect.signature(function).parameters.values())
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    if [p.name for p in parameters[: len(first)]] != list(first) or any(p.kind not in named for p in parameters):
        raise ConfigError(
            f"{what} must be a function that begins with the parameters ({', '.join(first)}); the others, all "
            "with names, are its options."
        )
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError:  # a name that only type checkers import
        hints = {}
    options: list[Any] = []
    for parameter in parameters[len(first) :]:
        kind, default = hints.get(parameter.name, Any), parameter.default
        if isinstance(default, list | dict | set):
            default = field(default_factory=partial(deepcopy, default))
        options.append((parameter.name, kind) if default is parameter.empty else (parameter.name, kind, default))

    def call(self: Any, *arguments: Any, **keywords: Any) -> Any:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return method(function, values, *arguments, **keywords)

    made = make_dataclass(function.__name__, options, namespace={method.__name__: call}, frozen=True, kw_only=True)
    made.__module__ = function.__module__  # it is the user's, not ours
    return made
