"""Ways to answer otherwise than one should: wrong shapes, types and numbers, errors, and writing into what is given."""

# ruff: noqa: ARG001

import contextlib
import sys
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import torch

from tests.attack.parts import Bend, plan


class MuteError(Exception):
    """An error whose own text is an error."""

    def __str__(self) -> str:
        raise ValueError("no words")


def raising(error: BaseException) -> Bend:
    """Returns a bend that raises an error."""

    def bend(answer: Any, arguments: tuple[Any, ...]) -> Any:
        raise error

    return bend


def instead(value: Any) -> Bend:
    """Returns a bend that answers with something else."""
    return lambda _answer, _arguments: value


def of_array(change: Any) -> Bend:
    """Returns a bend of the numbers of an answer; an answer without numbers is left as it is."""

    def bend(answer: Any, arguments: tuple[Any, ...]) -> Any:
        if isinstance(answer, torch.Tensor):
            return change(answer.detach().numpy())
        return change(np.asarray(answer)) if isinstance(answer, np.ndarray | float | int) else answer

    return bend


def arrays_in(thing: Any, depth: int = 3) -> list[Any]:
    """Returns the arrays and tensors that can be reached from an argument."""
    if isinstance(thing, np.ndarray | torch.Tensor):
        return [thing]
    if depth == 0 or thing is None:
        return []
    inner = [getattr(thing, one.name) for one in fields(thing)] if is_dataclass(thing) else []
    inner += list(thing) if isinstance(thing, list | tuple) else []
    return [array for item in inner for array in arrays_in(item, depth - 1)]


def scribble(answer: Any, arguments: tuple[Any, ...]) -> Any:
    """Writes into everything that it was given, where that can be done, and answers honestly."""
    for array in arrays_in(arguments):
        with contextlib.suppress(ValueError, RuntimeError):
            array[...] = 1
    for argument in arguments:
        if isinstance(argument, list | dict):
            argument.clear()
    return answer


def scribble_loudly(answer: Any, arguments: tuple[Any, ...]) -> Any:
    """Writes into everything that it was given, and fails where it can't."""
    for array in arrays_in(arguments):
        array[...] = 1
    return answer


def scribble_later(answer: Any, arguments: tuple[Any, ...]) -> Any:
    """Answers honestly, and writes into its answer when it is asked something else."""
    plan.later.extend(array for array in arrays_in(answer) if isinstance(array, np.ndarray))
    return answer


BENDS: dict[str, Bend] = {
    "None": instead(None),
    "text": instead("nonsense"),
    "dict": instead({"a": 1}),
    "object": instead(object()),
    "class": instead(dict),
    "empty list": instead([]),
    "ragged": instead([[1, 2], [3]]),
    "huge": instead(10**400),
    "empty tuple": instead(()),
    "two": instead((1, 2)),
    "nan": instead(float("nan")),
    "minus one": instead(-1),
    "list": of_array(lambda a: a.tolist()),
    "tensor": of_array(lambda a: torch.from_numpy(np.array(a))),
    "masked": of_array(lambda a: np.ma.masked_array(a, mask=np.ones(a.shape, dtype=np.bool_))),
    "short": of_array(lambda a: a[:-1] if a.ndim else a - 5),
    "long": of_array(lambda a: np.append(a, a)),
    "deep": of_array(lambda a: a[None]),
    "flat": of_array(np.ravel),
    "no axis": of_array(lambda a: a.sum()),
    "float16": of_array(lambda a: a.astype(np.float16)),
    "float64": of_array(lambda a: a.astype(np.float64)),
    "int8": of_array(lambda a: a.astype(np.int8)),
    "uint64": of_array(lambda a: a.astype(np.uint64)),
    "complex": of_array(lambda a: a.astype(np.complex64)),
    "strings": of_array(lambda a: a.astype(str)),
    "objects": of_array(lambda a: a.astype(object)),
    "all nan": of_array(lambda a: np.full(a.shape, np.nan, dtype=a.dtype if a.dtype.kind == "f" else np.float64)),
    "infinite": of_array(lambda a: np.full(a.shape, np.inf, dtype=a.dtype if a.dtype.kind == "f" else np.float64)),
    "negative": of_array(lambda a: -1 - a.astype(np.int64)),
    "beyond": of_array(lambda a: np.full(a.shape, 2**62)),
    "read-only": of_array(lambda a: np.broadcast_to(a, a.shape)),
    "backwards": of_array(lambda a: a[::-1][::-1] if a.ndim else a),
    "ValueError": raising(ValueError("first line\nsecond line")),
    "KeyError": raising(KeyError("nothing")),
    "StopIteration": raising(StopIteration()),
    "AssertionError": raising(AssertionError()),
    "RecursionError": raising(RecursionError("too deep")),
    "MuteError": raising(MuteError()),
    "exit": lambda _answer, _arguments: sys.exit(0),
    "scribble": scribble,
    "scribble loudly": scribble_loudly,
    "scribble later": scribble_later,
}
