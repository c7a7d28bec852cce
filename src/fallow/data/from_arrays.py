"""A dataset from plain arrays, and the statistics of its channels."""

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fallow.data.dataset import Dataset, check_part
from fallow.data.faults import Inputs, Labels
from fallow.errors import ConfigError

Kind = Literal["images", "signals", "vectors"]
"""What the samples of a dataset are."""

AXES = {"images": 4, "signals": 3, "vectors": 2}
"""The axes of an array of samples, by their kind."""


def dataset_from_arrays(
    name: str,
    x: NDArray[Any],
    y: NDArray[Any],
    x_test: NDArray[Any],
    y_test: NDArray[Any],
    classes: int | None = None,
    *,
    client: NDArray[Any] | None = None,
    kind: Kind | None = None,
) -> Dataset:
    """Returns a checked dataset of the given arrays.

    Three axes are ambiguous: without a `kind` they are images of one channel, (n, H, W).

    Args:
        name: The name of the dataset.
        x: Training samples: images, shape (n, C, H, W), or (n, H, W) for one channel; signals, shape (n, C, L), with
            kind="signals"; or vectors, shape (n, D). uint8 stays, other numbers become float32.
        y: The labels of `x`, shape (n,), whole numbers from 0.
        x_test: Test samples, in the shape and type of those in `x`.
        y_test: The labels of `x_test`, shape (m,), whole numbers from 0.
        classes: How many classes there are; None is the largest label plus one.
        client: The client that each sample of `x` belongs to, shape (n,), whole numbers from 0; None for no owners.
        kind: "images", "signals" or "vectors"; None goes by the number of axes.

    Raises:
        ConfigError: An array can't be used; the error names it.

    Examples:
        >>> images, labels = np.zeros((4, 8, 8), dtype=np.uint8), np.array([0, 1, 2, 0])
        >>> dataset = dataset_from_arrays("mine", images, labels, images, labels)
        >>> dataset.x.shape, dataset.classes
        ((4, 1, 8, 8), 3)
        >>> signals = np.zeros((4, 3, 64))
        >>> dataset_from_arrays("worn", signals, labels, signals, labels, kind="signals").x.shape
        (4, 3, 64)
    """
    if kind is not None and kind not in get_args(Kind):
        raise ConfigError(
            f"The dataset '{name}' can't be used: kind is {kind!r}; it must be 'images', 'signals' or 'vectors'."
        )
    x, x_test = _inputs(name, "x", x, kind), _inputs(name, "x_test", x_test, kind)
    y, y_test = _whole(name, "y", y, "labels"), _whole(name, "y_test", y_test, "labels")
    client = None if client is None else _whole(name, "client", client, "clients")
    if classes is None:
        classes = max(2, int(max(y.max(initial=0), y_test.max(initial=0))) + 1)
    elif isinstance(classes, np.integer):
        classes = int(classes)
    check_part(name, "x", x, "y", y, classes)
    mean, std = channel_statistics(x)
    dataset = Dataset(name, x, y, x_test, y_test, classes, mean, std, client)
    dataset.check()
    return dataset


def channel_statistics(x: Inputs) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Returns the mean and the standard deviation of each channel (of each feature), in the units of `Dataset.mean`.

    A channel whose values are all equal gets the deviation 1, so that normalising it gives zeros.

    Args:
        x: Images, shape (n, C, H, W), signals, shape (n, C, L), or vectors, shape (n, D), uint8 or float32.

    Examples:
        >>> channel_statistics(np.array([[[[0, 255]]]], dtype=np.uint8))
        ((0.5,), (0.5,))
        >>> channel_statistics(np.array([[1, 5], [3, 5]], dtype=np.float32))
        ((2.0, 5.0), (1.0, 1.0))
    """
    mean, std = [], []
    for channel in range(x.shape[1]):
        values = x[:, channel]
        if values.dtype == np.uint8:
            # A histogram is exact and needs no copy of the images in floating point.
            weight = np.bincount(values.ravel(), minlength=256) / values.size
            level = np.arange(256) / 255
            mean.append(float(weight @ level))
            std.append(float(np.sqrt(weight @ (level - mean[-1]) ** 2)))
        else:
            mean.append(float(values.mean(dtype=np.float64)))
            std.append(float(values.std(dtype=np.float64)))
    return tuple(mean), tuple(deviation if deviation > 0 else 1.0 for deviation in std)


def _inputs(name: str, field: str, array: NDArray[Any], kind: Kind | None) -> Inputs:
    if array.ndim == 3 and kind in (None, "images"):
        array = array[:, None]
    if kind is not None and array.ndim != AXES[kind]:
        raise ConfigError(
            f"The dataset '{name}' can't be used: {field} has the shape {array.shape}, but {kind} have {AXES[kind]} "
            "axes; images are (samples, channels, height, width), signals (samples, channels, length), vectors "
            "(samples, features)."
        )
    if array.dtype == np.uint8:
        return array
    if array.dtype.kind not in "iuf":
        raise ConfigError(
            f"The dataset '{name}' can't be used: {field} has the type {array.dtype}; it must be uint8 or float32."
        )
    with np.errstate(over="ignore"):  # a number that is too large becomes infinite, and the check finds it
        return array.astype(np.float32)


def _whole(name: str, field: str, array: NDArray[Any], what: str) -> Labels:
    if array.dtype.kind not in "iu":
        raise ConfigError(
            f"The dataset '{name}' can't be used: {field} has the type {array.dtype}; {what} are whole numbers from 0."
        )
    return array.astype(np.int64)
