"""The one door: a name, a class, a function or an object, and what is wrong with it."""

from collections.abc import Mapping
from dataclasses import is_dataclass
from types import FunctionType
from typing import Any

from fallow.conformance.kinds import KINDS, Kind, kind_named, kind_of, kind_of_name
from fallow.errors import ConfigError, FallowError
from fallow.plugins.objects import name_of


def check(part: Any, kind: str | None = None, options: Mapping[str, Any] | None = None) -> list[str]:
    """Returns what is wrong with a part of a run, one sentence each; an empty list if nothing is.

    A part is a policy, an energy model, a dataset, a partition, a model, a local objective, an aggregation rule, a
    staleness weight, a tracker or a battery of a node. It is asked for everything that a run would ask for, in a small
    made-up world, twice and out of order: it must answer the same, keep no memory but the one that a checkpoint keeps,
    and return what a run can use.

    Args:
        part: A name, ``module:Class``, a class, a function or an object.
        kind: Such as "policy" or "energy"; None tells it by its methods.
        options: The options of a part that is given by name or as a class.

    Raises:
        ConfigError: There is no such part, an option is wrong, or the kind can't be told.

    Examples:
        >>> check("vaoi", options={"k": 3}), check("polynomial")
        ([], [])
    """
    found, name = part, part if isinstance(part, str) else _called(part)
    chosen = kind_named(kind) if kind else kind_of_name(part) if isinstance(part, str) else kind_of(name, part)
    if isinstance(part, str):
        found = chosen.find(part)
    elif isinstance(part, FunctionType) and chosen.choice is not None:
        found = chosen.find(name_of(part, chosen.table, chosen.what))
    try:
        built = chosen.build(name, found, options or {})
        return _frozen_fault(chosen, built) or chosen.problems(built)
    except ConfigError:
        raise
    except FallowError as error:
        return [str(error)]


def kind_name(part: str, kind: str | None) -> str:
    """Returns the kind of a part that is given by name.

    Args:
        part: The name.
        kind: What the user says it is; None tells it by its methods.

    Raises:
        ConfigError: There is no such part or kind.
    """
    return (kind_named(kind) if kind else kind_of_name(part)).name


def _called(part: Any) -> str:
    return part.__name__ if isinstance(part, type | FunctionType) else type(part).__name__


def _frozen_fault(kind: Kind, part: Any) -> list[str]:
    """Returns the sentence about a part that is no frozen dataclass; a policy's own check says it in its words."""
    if kind.choice is None or kind is KINDS["policy"]:
        return []
    if is_dataclass(part) and type(part).__dataclass_params__.frozen:  # type: ignore[union-attr]
        return []
    return [f"The {kind.what} must be a frozen dataclass: decorate it with @dataclass(frozen=True)."]
