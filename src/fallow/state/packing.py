"""Any frozen dataclass as arrays and notes, by its fields and their types, and back."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from fallow.errors import StateError
from fallow.state.memory import from_arrays, to_arrays
from fallow.state.rows import is_row

State = TypeVar("State")

Arrays = dict[str, NDArray[Any]]
Notes = Any
"""What JSON can hold."""

_PLAIN = (bool, int, float, str, NoneType)


def pack(state: object) -> tuple[Arrays, Notes]:
    """Returns a state as arrays by name and notes that JSON can hold. The arrays are not copied.

    A field may be an array, a number, a text, bytes, None, a tuple, list or dict of these, another dataclass, or, with
    the type Any, the memory of a policy or a rule.

    Args:
        state: A dataclass.

    Raises:
        StateError: A field has a type that no checkpoint can hold.
    """
    arrays: Arrays = {}
    return arrays, _pack(type(state), state, "", arrays)


def unpack(kind: type[State], arrays: Mapping[str, NDArray[Any]], notes: Notes, like: object = None) -> State:
    """Returns the state that `pack` took apart, with copies of the arrays, but not of rows, which nobody changes.

    Args:
        kind: The class of the state.
        arrays: The arrays that `pack` returned.
        notes: The notes that `pack` returned.
        like: Another state of the same class. It shows the classes of the memories of policies and rules; not needed
            for a state without such memories.

    Raises:
        StateError: The state holds the memory of a policy or a rule, and `like` does not show its class; or arrays and
            notes are not of such a state.
    """
    try:
        state: State = _unpack(kind, notes, arrays, like)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        words = f"{type(error).__name__}: {error}".strip(": ")
        raise StateError(f"What was kept is no {kind.__name__} of this version of Fallow ({words}).") from error
    return state


@cache
def _hints(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _pack(hint: Any, value: Any, name: str, arrays: Arrays) -> Notes:
    """Returns the notes of a value, and adds its arrays to `arrays`, under names that begin with `name`."""
    hint, origin = _without_none(hint, value)
    if value is None or _is_plain(hint):
        return value.item() if isinstance(value, np.generic) else value
    if origin is np.ndarray or hint is Any:
        parts = {"": value} if origin is np.ndarray else to_arrays(value)
        names = {part: _free_name(f"{name}.{part}".strip("."), arrays) for part in parts}
        arrays.update({names[part]: array for part, array in parts.items()})
        return names[""] if origin is np.ndarray else names
    if hint is bytes:
        return value.hex()
    if is_dataclass(hint):
        values = vars(value)
        return {
            field: _pack(inner, values[field], f"{name}.{field}".strip("."), arrays)
            for field, inner in _hints(hint).items()  # type: ignore[arg-type]
        }
    if origin is dict:
        _, inner = get_args(hint)
        return [[key, _pack(inner, item, f"{name}.{key}", arrays)] for key, item in value.items()]
    if origin in (tuple, list):
        inner_hints = _item_hints(hint, len(value))
        return [
            _pack(inner, item, f"{name}.{place}", arrays)
            for place, (inner, item) in enumerate(zip(inner_hints, value, strict=True))
        ]
    raise StateError(f"'{name}' has the type {hint}, which no checkpoint can hold.")


def _unpack(hint: Any, notes: Notes, arrays: Mapping[str, NDArray[Any]], like: Any) -> Any:
    hint, origin = _without_none(hint, notes)
    if notes is None or _is_plain(hint):
        _check_plain(hint, notes)
        return notes
    if origin is np.ndarray:
        _check_type(hint, arrays[notes])
        return arrays[notes].copy()
    if hint is Any:
        if notes and like is None:
            raise StateError(f"A memory with the parts {sorted(notes)} was kept, and nothing shows what it looks like.")
        return from_arrays(
            like, {part: arrays[name] if is_row(part) else arrays[name].copy() for part, name in notes.items()}
        )
    if hint is bytes:
        return bytes.fromhex(notes)
    if is_dataclass(hint):
        models = vars(like) if type(like) is hint else {}
        values = {
            field: _unpack(inner, notes[field], arrays, models.get(field))
            for field, inner in _hints(hint).items()  # type: ignore[arg-type]
        }
        return hint(**values)  # type: ignore[operator]
    if origin is dict:
        _, inner = get_args(hint)
        return {key: _unpack(inner, item, arrays, None) for key, item in notes}
    items = (
        _unpack(inner, item, arrays, None) for inner, item in zip(_item_hints(hint, len(notes)), notes, strict=True)
    )
    return tuple(items) if origin is tuple else list(items)


def _without_none(hint: Any, value: Any) -> tuple[Any, Any]:
    """Returns a type without the None that it allows, and what it is a kind of, as in ``list`` for ``list[int]``."""
    if get_origin(hint) in (Union, UnionType) and value is not None and not _is_plain(hint):
        (hint,) = (arm for arm in get_args(hint) if arm is not NoneType)
    return hint, get_origin(hint)


@cache
def _is_plain(hint: Any) -> bool:
    """Returns whether the values of a type go into the notes, and come back, unchanged."""
    if get_origin(hint) in (Union, UnionType, list):
        return all(_is_plain(arm) for arm in get_args(hint))
    return hint in _PLAIN or get_origin(hint) is Literal


def _check_plain(hint: Any, value: Any) -> None:
    """Raises `TypeError` for a value of the notes that has another type than its field."""
    if get_origin(hint) in (Union, UnionType):
        kinds = {arm if arm in _PLAIN else get_origin(arm) for arm in get_args(hint)}
    else:
        kinds = {get_origin(hint) or hint}
    if Literal in kinds or Any in kinds:
        return
    if type(value) not in kinds | ({int} if float in kinds else set()):
        raise TypeError(f"a {type(value).__name__} stands where a field has the type {hint}")


def _check_type(hint: Any, array: NDArray[Any]) -> None:
    """Raises `TypeError` for an array of other numbers than its field has."""
    (wanted,) = get_args(get_args(hint)[1]) or (Any,)
    if isinstance(wanted, type) and not issubclass(array.dtype.type, wanted):
        raise TypeError(f"an array of {array.dtype} stands where a field has the type {hint}")


def _item_hints(hint: Any, length: int) -> tuple[Any, ...]:
    """Returns the types of a tuple's or list's items."""
    inner = get_args(hint)
    return inner if get_origin(hint) is tuple and inner[-1] is not Ellipsis else (inner[0],) * length


def _free_name(name: str, arrays: Arrays) -> str:
    """Returns a name that no array has; keys of dicts may hold dots."""
    while name in arrays:
        name += "'"
    return name
