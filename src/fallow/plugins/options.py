"""Options: the fields of a dataclass, or the parameters of somebody's function, checked against their annotations."""

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
    """Returns the names of a class's options: the fields that it is made with."""
    return {option.name for option in fields(cls) if option.init} if is_dataclass(cls) else set()


def option_values(thing: Any) -> dict[str, Any]:
    """Returns the options of an object by name, in the order of its fields."""
    return {option.name: vars(thing)[option.name] for option in fields(thing) if option.init}


def check_methods(what: str, cls: type, methods: Iterable[str]) -> None:
    """Raises `ConfigError` for a class that lacks a method which others of its kind have.

    Args:
        what: The thing in words, as in "The policy 'my_module:Mine'".
        cls: Somebody's class.
        methods: The names that it must have.
    """
    for method in methods:
        if method not in dir(cls):
            raise ConfigError(f"{what} has no method '{method}'; it must have {' and '.join(methods)}.")


@cache
def _adapters(cls: type) -> dict[str, TypeAdapter[Any]]:
    """Returns what checks each option of a class; made once, because pydantic takes its time."""
    hints = get_type_hints(cls, include_extras=True)
    strict = ConfigDict(strict=True, allow_inf_nan=False)
    return {name: TypeAdapter(hints[name], config=strict) for name in sorted(option_names(cls))}


def describe_options(cls: type) -> dict[str, tuple[Any, str | None]]:
    """Returns the default and the description of each option; a default of MISSING must be given."""
    hints = get_type_hints(cls, include_extras=True)
    return {
        one.name: (
            one.default if one.default_factory is MISSING else one.default_factory(),
            TypeAdapter(hints[one.name]).json_schema().get("description"),
        )
        for one in (fields(cls) if is_dataclass(cls) else ())
    }


def with_options(what: str, cls: type, options: Mapping[str, Any], section: str = "") -> Any:
    """Returns `cls` made with `options`, each checked against its annotation.

    Args:
        what: The thing in words, as in "The partition 'dirichlet'".
        cls: A dataclass; its fields are its options.
        options: Values by the names of options.
        section: Where the options stand in a config, for the error sentence.
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
    except (Exception, SystemExit) as error:  # somebody's own checks
        raise ConfigError(f"{what} refuses its options: {in_words(error)}.") from error


def _validated(adapter: TypeAdapter[Any], value: Any) -> Any:
    """Checks a value; a tuple, which is what a config's list is here, will do where a list is asked for."""
    try:
        return adapter.validate_python(value)
    except ValidationError as as_tuple:
        if not isinstance(value, tuple):
            raise
        try:
            return adapter.validate_python(thawed(value))
        except ValidationError as as_list:
            # The one that got further in tells more.
            raise max(as_tuple, as_list, key=lambda error: len(error.errors()[0]["loc"])) from None


@cache
def options_of(what: str, function: Callable[..., Any], first: tuple[str, ...], method: Callable[..., Any]) -> type:
    """Returns a frozen dataclass whose fields are the parameters of a function, but for the first ones.

    The same function gives the same class, so that what is made of it can be compared.

    Args:
        what: The function in words, for the error sentence.
        function: Somebody's.
        first: The names of the parameters that Fallow gives it.
        method: ``method(function, options, …)`` calls the function; becomes the class's method of the same name.
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
    except NameError:  # a name that is there for type checkers alone
        hints = {}
    options: list[Any] = []
    for parameter in parameters[len(first) :]:
        kind, default = hints.get(parameter.name, Any), parameter.default
        if isinstance(default, list | dict | set):
            default = field(default_factory=partial(deepcopy, default))
        options.append((parameter.name, kind) if default is parameter.empty else (parameter.name, kind, default))

    def call(self: Any, *arguments: Any, **keywords: Any) -> Any:
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return method(function, own, *arguments, **keywords)

    return make_dataclass(function.__name__, options, namespace={method.__name__: call}, frozen=True, kw_only=True)
