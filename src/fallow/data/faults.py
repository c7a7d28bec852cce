"""What can be wrong with the arrays of a dataset, in words."""

import numpy as np
from numpy.typing import NDArray

Inputs = NDArray[np.uint8] | NDArray[np.float32]
"""Images, shape (n, C, H, W); signals, shape (n, C, L); or vectors, shape (n, D)."""

Labels = NDArray[np.int64]

MOST_CLASSES = 100_000
"""Most classes of a dataset. Each has a row of weights in the model, so a larger label is surely a mistake."""

SHAPES = "(samples, channels, height, width), (samples, channels, length) or (samples, features), none of them 0"
"""The shapes that inputs may have: images, signals, vectors."""

MASKED = "is a masked array, whose mask would be lost; fill it first, with array.filled(…)"


def input_fault(x: Inputs) -> str | None:
    """Returns what is wrong with inputs, in words; None if nothing is.

    Args:
        x: What should be images, signals or vectors.
    """
    if isinstance(x, np.ma.MaskedArray):
        return MASKED
    if not isinstance(x, np.ndarray) or x.dtype not in (np.uint8, np.float32):
        return f"has the type {_type(x)}; it must be an array of uint8 or float32"
    if x.ndim not in (2, 3, 4) or 0 in x.shape:
        return f"has the shape {x.shape}; it must be {SHAPES}"
    if x.dtype == np.float32 and not np.isfinite(x).all():
        return f"has {int(np.count_nonzero(~np.isfinite(x)))} values that are not finite numbers"
    return None


def label_fault(y: Labels, samples: int, x_field: str, classes: int) -> str | None:
    """Returns what is wrong with labels, in words; None if nothing is.

    Args:
        y: What should be the labels, shape (samples,), int64.
        samples: How many samples there are.
        x_field: The name of the samples' array.
        classes: How many classes there are.
    """
    if isinstance(y, np.ma.MaskedArray):
        return MASKED
    if not isinstance(y, np.ndarray) or y.dtype != np.int64:
        return f"has the type {_type(y)}; it must be an array of int64"
    if y.shape != (samples,):
        return f"has the shape {y.shape}; it must be ({samples},), one label for each sample of {x_field}"
    if y.min() < 0 or y.max() >= classes:
        wrong = int(y.min()) if y.min() < 0 else int(y.max())
        return f"holds the label {wrong}; labels go from 0 to {classes - 1}"
    if y.max() >= MOST_CLASSES:
        return f"holds the label {int(y.max())}; labels count from 0, and there may be at most {MOST_CLASSES} classes"
    return None


def owner_fault(client: Labels | None, samples: int) -> str | None:
    """Returns what is wrong with the owners of the training samples, in words; None if nothing is.

    Args:
        client: What should be the client of each training sample, shape (samples,), int64; None names none.
        samples: How many training samples there are.
    """
    if client is None:
        return None
    if isinstance(client, np.ma.MaskedArray):
        return MASKED
    if not isinstance(client, np.ndarray) or client.dtype != np.int64:
        return f"has the type {_type(client)}; it must be an array of int64"
    if client.shape != (samples,):
        return f"has the shape {client.shape}; it must be ({samples},), the client of each sample of x"
    if client.min() < 0:
        return f"holds the number {int(client.min())}; clients count from 0"
    return None


def _type(thing: object) -> object:
    return thing.dtype if isinstance(thing, np.ndarray) else type(thing).__name__
