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


def check_parts(owner: str, state: object, first: object) -> None:
    """Refuses a memory whose parts are not those of the first one: a checkpoint could not bring it back."""
    now, then = to_arrays(state), to_arrays(first)
    if now.keys() != then.keys():
        raise StateError(
            f"The {owner}'s memory has the parts {sorted(now)}, and the one that its init returned has {sorted(then)}; "
            "init must return a memory with every part, or a checkpoint could not bring it back."
        )


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
            array = arrays[name]
            is_number = array.ndim == 0 and not isinstance(model, np.ndarray)
            # The number's own type, not that of the model: a credit that began as 0 may be 0.4 by now.
            values[field.name] = array[()] if isinstance(model, np.generic) else array.item() if is_number else array
    return type(like)(**values)


def take_rows(state: State, who: NDArray[np.intp], clients: int) -> State:
    """Returns the part of a memory over N clients that concerns some of them: an array of N entries has one for each.

    Args:
        state: The memory.
        who: Some clients by number.
        clients: N.
    """
    arrays = to_arrays(state)
    return from_arrays(
        state, {name: array[who] if _per_client(array, clients) else array for name, array in arrays.items()}
    )


def put_rows(state: State, who: NDArray[np.intp], part: State, clients: int, *, shared: bool = True) -> State:
    """Returns a memory in which a part, as `take_rows` took it, is replaced.

    Args:
        state: The memory over N clients.
        who: The clients of the part.
        part: What replaces it.
        clients: N.
        shared: Whether what belongs to no single client is taken from the part too.
    """
    arrays, own = to_arrays(state), to_arrays(part)
    for name, array in arrays.items():
        if _per_client(array, clients):
            array[who] = own[name]
        elif shared:
            arrays[name] = own[name]
    return from_arrays(state, arrays)


def grown(state: State, clients: int, fresh: State) -> State:
    """Returns a memory over more clients: the old ones keep theirs, the new ones have what a fresh memory gives them.

    Args:
        state: The memory over N clients.
        clients: N.
        fresh: The first memory over the larger number.
    """
    arrays, wider = to_arrays(state), to_arrays(fresh)
    for name, array in arrays.items():
        if _per_client(array, clients):
            wider[name][:clients] = array
        else:
            wider[name] = array
    return from_arrays(fresh, wider)


def _per_client(array: NDArray[Any], clients: int) -> bool:
    return array.ndim > 0 and len(array) == clients
