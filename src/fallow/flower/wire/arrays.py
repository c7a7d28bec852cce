"""Arrays on the wire: models as Flower's records of arrays, and a policy's memory as bytes. Nothing is pickled.

Between server and nodes a model is one array, whose name says the parameters and their shapes: Flower stores, hashes
and sends two objects for each array. Whoever hands models to Flower, or gets them, has them by parameter.
"""

import json
import math
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord
from numpy.typing import NDArray
from safetensors.numpy import load as tensors_from_bytes
from safetensors.numpy import save as tensors_to_bytes

from fallow.errors import FallowError
from fallow.models import BATCHES_SEEN
from fallow.models.weights import Weights

MOST = 2**40
MOST_DIMENSIONS = 16
"""Larger numbers in a layout are no shapes, whatever the message says."""

Named = dict[str, NDArray[np.float32]]
"""A model by parameter, each in its own shape."""


class MessageError(FallowError):
    """A message is not what it should be."""


def to_array_record(model: Named) -> ArrayRecord:
    """Returns a model as Flower's record of arrays, by the names of the parameters, for whoever evaluates or loads it.

    Args:
        model: By parameter, each float32 in its own shape.
    """
    return ArrayRecord({name: Array(np.ascontiguousarray(array)) for name, array in model.items()})


def from_array_record(record: ArrayRecord) -> Named:
    """Returns the model in a record of arrays, without counts of batches, which no average of models has a use for.

    Args:
        record: From Flower; it may be a module's ``state_dict``.

    Raises:
        MessageError: Its bytes are no arrays, or other ones than a model has.
    """
    return _read({name: array for name, array in record.items() if name.split(".")[-1] != BATCHES_SEEN})


def pack_model(model: Named) -> ArrayRecord:
    """Returns a model as it goes between server and nodes: one array, under its layout as a name.

    Args:
        model: By parameter, each float32 in its own shape.

    Examples:
        >>> list(pack_model({"a": np.zeros((2, 3), dtype=np.float32), "b": np.zeros(1, dtype=np.float32)}))
        ['[["a",[2,3]],["b",[1]]]']
    """
    layout = json.dumps([[name, list(array.shape)] for name, array in model.items()], separators=(",", ":"))
    return ArrayRecord({layout: Array(np.concatenate([array.reshape(-1) for array in model.values()]))})


def unpack_model(record: ArrayRecord) -> Named:
    """Returns the model in a record that `pack_model` made. Its arrays share their memory.

    Args:
        record: From Flower.

    Raises:
        MessageError: It has not one array, its bytes are no array, or its layout is none.
    """
    if len(record) != 1:
        raise MessageError(f"Its model has {len(record)} arrays, not one with a layout.")
    ((layout, array),) = record.items()
    (weights,) = _read({layout: array}).values()
    shapes = _shapes_in(layout)
    sizes = [math.prod(shape) for shape in shapes.values()]
    if weights.shape != (sum(sizes),):
        raise MessageError(f"Its model has the shape {weights.shape}, and its layout {sum(sizes)} numbers.")
    parts = np.split(weights, np.cumsum(sizes)[:-1])
    return {name: part.reshape(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)}


def _shapes_in(layout: str) -> dict[str, tuple[int, ...]]:
    """Returns the shape of each parameter, by name."""
    try:
        pairs = json.loads(layout)
        shapes = {name: tuple(shape) for name, shape in pairs}
    except (ValueError, TypeError, RecursionError) as error:
        raise MessageError(f"Its model has the layout '{layout[:60]}', which can't be read: {error}.") from error
    sizes = [size for shape in shapes.values() for size in shape]
    sound = all(type(size) is int and 0 < size <= MOST for size in sizes) and all(type(name) is str for name in shapes)
    if not shapes or not sound or len(shapes) != len(pairs) or max(map(len, shapes.values())) > MOST_DIMENSIONS:
        raise MessageError(f"Its model has the layout '{layout[:60]}', which no model has.")
    return shapes


def _read(arrays: Mapping[str, Array]) -> Named:
    try:
        model = {name: array.numpy() for name, array in arrays.items()}
    except Exception as error:  # anything may be in the bytes, so anything may be raised over them
        raise MessageError(f"Its arrays can't be read: {error}.") from error
    if not all(isinstance(array, np.ndarray) for array in model.values()):  # NumPy also reads archives
        raise MessageError("Its arrays can't be read: they are archives.")
    return model


def flattened(model: Named, like: Named) -> Weights:
    """Returns a model as one vector, shape (P,), float32.

    Args:
        model: By parameter.
        like: Parameters in the order of the vector.

    Raises:
        MessageError: The model has other names, shapes or types than `like`.
    """
    if model.keys() != like.keys():
        raise MessageError(f"A model has the parameters {sorted(model)}, not {sorted(like)}.")
    for name, array in like.items():
        if model[name].shape != array.shape or model[name].dtype != array.dtype:
            raise MessageError(
                f"The parameter '{name}' has shape {model[name].shape} and type {model[name].dtype}, not {array.shape} "
                f"and {array.dtype}."
            )
    return np.concatenate([model[name].reshape(-1) for name in like])


def named(weights: Weights, like: Named) -> Named:
    """Returns a vector by parameter. Undoes `flattened`.

    Args:
        weights: Shape (P,), float32.
        like: Parameters in the order of the vector.
    """
    parts = np.split(weights, np.cumsum([array.size for array in like.values()])[:-1])
    return {name: part.reshape(array.shape) for (name, array), part in zip(like.items(), parts, strict=True)}


def version_of(model: Named) -> str:
    """Returns the version of a model: a digest of its names and numbers.

    Args:
        model: By parameter, each float32 in its own shape.
    """
    digest = sha256()
    for name, array in model.items():
        digest.update(f"{name}{array.shape}{array.dtype}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()[:32]


def to_bytes(arrays: dict[str, NDArray[Any]]) -> bytes:
    """Returns a policy's memory as bytes (safetensors).

    Args:
        arrays: As `fallow.state.to_arrays` returns them.
    """
    return tensors_to_bytes(arrays)


def from_bytes(memory: bytes) -> dict[str, NDArray[Any]]:
    """Returns the arrays of a policy's memory. Undoes `to_bytes`.

    Args:
        memory: As safetensors.

    Raises:
        MessageError: The bytes are no arrays.
    """
    try:
        return tensors_from_bytes(memory)
    except Exception as error:  # not only SafetensorError: a type unknown to NumPy is a KeyError
        raise MessageError(f"A policy's memory can't be read: {error}.") from error
