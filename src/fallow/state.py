"""A memory, of a policy or an aggregation rule, as named arrays, and back: what a checkpoint keeps."""

from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fallow.errors import StateError

State = TypeVar("State")


def to_arrays(state: object, prefix: str = "") -> dict[str, NDArray[Any]]:
    """Returns the arrays and numbers of a state by their dotted names; None has none."""
    if state is None:
        return {}
    if not is_dataclass(state) or isinstance(state, type):
        raise StateError(
            f"A state must be None or a frozen dataclass of NumPy arrays and numbers; it is a {type(state).__name__}."
        )
    arrays: dict[str, NDArray[Any]] = {}
    for field in fields(state):
        name, value = prefix + field.name, getattr(state, field.name)
        if is_dataclass(value):
            arrays |= to_arrays(value, f"{name}.")
        elif isinstance(value, np.ndarray | np.generic | int | float) and np.asarray(value).dtype.kind in "biuf":
            arrays[name] = np.array(value)
        else:
            raise StateError(
                f"The state's '{name}' is a {type(value).__name__}; only NumPy arrays of numbers, and numbers, survive "
                "a checkpoint."
            )
    return arrays


def from_arrays(like: State, arrays: dict[str, NDArray[Any]], prefix: str = "") -> State:
    """Returns the state that `to_arrays` took apart; `like` is any state of the same policy."""
    if like is None:
        return like
    values: dict[str, Any] = {}
    for field in fields(like):  # type: ignore[arg-type]  # to_arrays refused all but dataclasses
        name, model = prefix + field.name, getattr(like, field.name)
        if is_dataclass(model):
            values[field.name] = from_arrays(model, arrays, f"{name}.")
        else:
            values[field.name] = arrays[name] if isinstance(model, np.ndarray) else type(model)(arrays[name][()])
    return type(like)(**values)
