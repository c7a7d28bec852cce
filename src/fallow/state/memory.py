"""The memory of a policy or of an aggregation rule as named arrays, and back; and its rows, client by client.

Its class was written by its author: `to_arrays` takes it apart by its fields, and `from_arrays` puts it together like
the one that its `init` returned.
"""

from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fallow.errors import StateError
from fallow.state.rows import Rows, is_row

State = TypeVar("State")


def to_arrays(state: object, prefix: str = "") -> dict[str, NDArray[Any]]:
    """Returns the arrays and numbers of a memory by their dotted names; an empty dict for None.

    Args:
        state: None, or a frozen dataclass of NumPy arrays, numbers, `Rows` and such dataclasses. Rows are not copied.
        prefix: What every name begins with.

    Raises:
        StateError: `state` is something else, or holds something else.

    Examples:
        >>> from fallow.policies import RoundRobin
        >>> to_arrays(RoundRobin(k=2).init(clients=5))
        {'first': array(0)}
    """
    if state is None:
        return {}
    if not is_dataclass(state) or isinstance(state, type):
        raise StateError(
            f"A state must be None or a frozen dataclass of NumPy arrays and numbers; it is a {type(state).__name__}."
        )
    arrays: dict[str, NDArray[Any]] = {}
    for field in fields(state):
        name, value = prefix + field.name, getattr(state, field.name)
        if isinstance(value, Rows):
            arrays |= value.to_arrays(name)
        elif is_dataclass(value):
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
    """Checks that a memory has the same parts as the first one; otherwise a checkpoint could not restore it.

    Args:
        owner: Whose memory it is, for the error sentence.
        state: The memory.
        first: The memory that `init` returned.

    Raises:
        StateError: A part is missing, or there is a new one.
    """
    now, then = ({name for name in to_arrays(memory) if not is_row(name)} for memory in (state, first))
    if now != then:
        raise StateError(
            f"The {owner}'s memory has the parts {sorted(now)}, and the one that its init returned has {sorted(then)}; "
            "init must return a memory with every part, or a checkpoint could not bring it back."
        )


def from_arrays(like: State, arrays: dict[str, NDArray[Any]], prefix: str = "") -> State:
    """Returns the memory that `to_arrays` took apart.

    Args:
        like: Any memory of the same policy or rule; its class is the class of the result.
        arrays: The arrays that `to_arrays` returned.
        prefix: What the names of its arrays begin with.
    """
    if like is None:
        return like
    values: dict[str, Any] = {}
    for field in fields(like):  # type: ignore[arg-type]  # to_arrays accepts only dataclasses
        name, model = prefix + field.name, getattr(like, field.name)
        if isinstance(model, Rows):
            values[field.name] = model.from_arrays(name, arrays)
        elif is_dataclass(model):
            values[field.name] = from_arrays(model, arrays, f"{name}.")
        else:
            array = arrays[name]
            is_number = array.ndim == 0 and not isinstance(model, np.ndarray)
            # The type of the stored number, not that of `like`: a credit that began as 0 may be 0.4 by now.
            values[field.name] = array[()] if isinstance(model, np.generic) else array.item() if is_number else array
    return type(like)(**values)


def same_arrays(first: dict[str, NDArray[Any]], again: dict[str, NDArray[Any]]) -> bool:
    """Returns whether two memories, as `to_arrays` took them apart, are the same: names, types and numbers.

    Args:
        first: One of them.
        again: The other.
    """
    return first.keys() == again.keys() and all(
        first[name].dtype == again[name].dtype
        and np.array_equal(first[name], again[name], equal_nan=first[name].dtype.kind == "f")
        for name in first
    )


def take_rows(state: State, who: NDArray[np.intp], clients: int) -> State:
    """Returns a memory over some of N clients: their rows of every array that has N rows, and everything else.

    Args:
        state: The memory.
        who: The numbers of the clients, shape (n,), intp.
        clients: N.
    """
    arrays = to_arrays(state)
    return from_arrays(
        state, {name: array[who] if _per_client(array, clients) else array for name, array in arrays.items()}
    )


def put_rows(state: State, who: NDArray[np.intp], part: State, clients: int, *, shared: bool = True) -> State:
    """Returns a memory in which the part that `take_rows` returned is replaced.

    Args:
        state: The memory over N clients.
        who: The numbers of the clients of the part, shape (n,), intp.
        part: The new part.
        clients: N.
        shared: Whether values that belong to no single client are taken from the part too.
    """
    arrays, new = to_arrays(state), to_arrays(part)
    for name, array in arrays.items():
        if _per_client(array, clients):
            array[who] = new[name]
        elif shared:
            arrays[name] = new[name]
    return from_arrays(state, arrays)


def grown(state: State, clients: int, fresh: State) -> State:
    """Returns a memory over more clients: old clients keep their rows, new ones get those of a fresh memory.

    Args:
        state: The memory over N clients.
        clients: N.
        fresh: The first memory over the larger number of clients.
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
