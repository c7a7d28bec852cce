"""What a dataset is: images, labels and how to normalise them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fallow.errors import ConfigError

Images = NDArray[np.uint8] | NDArray[np.float32]
Labels = NDArray[np.int64]

MOST_CLASSES = 100_000
"""Most classes of a dataset. Each has a row of weights in the model, so a larger label is surely a mistake."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Images and labels, for training and for testing.

    Attributes:
        name: The name of the dataset.
        x: Training images, shape (n, C, H, W), uint8 or float32; may be memory-mapped.
        y: The labels of `x`, shape (n,), int64, from 0 to classes − 1.
        x_test: Test images, shape (m, C, H, W), the type of `x`.
        y_test: The labels of `x_test`, shape (m,), int64, from 0 to classes − 1.
        classes: How many classes there are.
        mean: The mean of each channel, C numbers; of x/255 where `x` is uint8, of `x` itself where it is float32.
        std: The standard deviation of each channel, in the same unit.
    """

    name: str
    x: Images
    y: Labels
    x_test: Images
    y_test: Labels
    classes: int
    mean: tuple[float, ...]
    std: tuple[float, ...]

    def check(self) -> None:
        """Checks that a model can learn from the dataset.

        Raises:
            ConfigError: A field can't be used; the error names the field and its value.
        """
        if not isinstance(self.classes, int) or self.classes < 2:
            raise ConfigError(f"{self._field('classes')} is {self.classes}; it must be a whole number of at least 2.")
        _check_part(self.name, "x", self.x, "y", self.y, self.classes)
        _check_part(self.name, "x_test", self.x_test, "y_test", self.y_test, self.classes)
        if self.classes > MOST_CLASSES:
            raise ConfigError(f"{self._field('classes')} is {self.classes}; there may be at most {MOST_CLASSES}.")
        if self.x.shape[1:] != self.x_test.shape[1:] or self.x.dtype != self.x_test.dtype:
            raise ConfigError(
                f"{self._field('x_test')} holds images of shape {self.x_test.shape[1:]} and type {self.x_test.dtype}, "
                f"but x of shape {self.x.shape[1:]} and type {self.x.dtype}; they must be the same."
            )
        channels = self.x.shape[1]
        for field, values in (("mean", self.mean), ("std", self.std)):
            if len(values) != channels or not np.isfinite(values).all():
                raise ConfigError(
                    f"{self._field(field)} is {values}; it must be {channels} finite numbers, one a channel."
                )
        if min(self.std) <= 0:
            raise ConfigError(f"{self._field('std')} is {self.std}; every channel's must be more than 0.")

    def normalised(self, x_part: Images) -> NDArray[np.float32]:
        """Returns images with the mean of each channel subtracted, divided by the channel's standard deviation.

        Args:
            x_part: Some of the images, shape (k, C, H, W), uint8 or float32 as `x` is.

        Returns:
            A new array, shape (k, C, H, W), float32.
        """
        unit = 255.0 if x_part.dtype == np.uint8 else 1.0
        scale = 1 / (unit * np.asarray(self.std))
        offset = np.asarray(self.mean) / np.asarray(self.std)
        result = x_part * scale.astype(np.float32)[:, None, None]
        result -= offset.astype(np.float32)[:, None, None]
        return result

    def _field(self, field: str) -> str:
        return f"The dataset '{self.name}' can't be used: {field}"


class DatasetOptions(Protocol):
    """Where a dataset comes from. A frozen dataclass whose fields are its options."""

    def load(self, seed: int, data_dir: Path | None = None) -> Dataset:
        """Returns the dataset; never uses the network.

        Args:
            seed: The seed of what is random in a generated dataset; other datasets ignore it.
            data_dir: Where fetched data is kept; None is $FALLOW_DATA_DIR or the user's cache.
        """
        ...


def dataset_from_arrays(
    name: str,
    x: NDArray[Any],
    y: NDArray[Any],
    x_test: NDArray[Any],
    y_test: NDArray[Any],
    classes: int | None = None,
) -> Dataset:
    """Returns a checked dataset of the given arrays.

    Args:
        name: The name of the dataset.
        x: Training images, shape (n, C, H, W), or (n, H, W) for one channel; uint8 stays, other numbers become
            float32.
        y: The labels of `x`, shape (n,), whole numbers from 0.
        x_test: Test images, shape (m, C, H, W) or (m, H, W), the type of `x`.
        y_test: The labels of `x_test`, shape (m,), whole numbers from 0.
        classes: How many classes there are; None is the largest label plus one.

    Raises:
        ConfigError: An array can't be used; the error names it.

    Examples:
        >>> images, labels = np.zeros((4, 8, 8), dtype=np.uint8), np.array([0, 1, 2, 0])
        >>> dataset = dataset_from_arrays("mine", images, labels, images, labels)
        >>> dataset.x.shape, dataset.classes
        ((4, 1, 8, 8), 3)
    """
    x, x_test = _images(name, "x", x), _images(name, "x_test", x_test)
    y, y_test = _labels(name, "y", y), _labels(name, "y_test", y_test)
    if classes is None:
        classes = max(2, int(max(y.max(initial=0), y_test.max(initial=0))) + 1)
    elif isinstance(classes, np.integer):
        classes = int(classes)
    _check_part(name, "x", x, "y", y, classes)
    mean, std = channel_statistics(x)
    dataset = Dataset(name, x, y, x_test, y_test, classes, mean, std)
    dataset.check()
    return dataset


def checked_dataset(name: str, dataset: object) -> Dataset:
    """Returns `dataset`, after a check that it is a dataset that a model can learn from.

    Args:
        name: The name of the dataset, for the error sentence.
        dataset: What a user's code returned.

    Raises:
        ConfigError: `dataset` is no `Dataset`, or one of its fields can't be used.
    """
    if not isinstance(dataset, Dataset):
        raise ConfigError(f"The dataset '{name}' returned a {type(dataset).__name__}; it must return a Dataset.")
    dataset.check()
    return dataset


def channel_statistics(x: Images) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Returns the mean and the standard deviation of each channel, in the units of `Dataset.mean`.

    A channel whose pixels are all equal gets the deviation 1, so that normalising it gives zeros.

    Args:
        x: Images, shape (n, C, H, W), uint8 or float32.

    Examples:
        >>> channel_statistics(np.array([[[[0, 255]]]], dtype=np.uint8))
        ((0.5,), (0.5,))
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


def _images(name: str, field: str, array: NDArray[Any]) -> Images:
    if array.ndim == 3:
        array = array[:, None]
    if array.dtype == np.uint8:
        return array
    if array.dtype.kind not in "iuf":
        raise ConfigError(
            f"The dataset '{name}' can't be used: {field} has the type {array.dtype}; it must be uint8 or float32."
        )
    with np.errstate(over="ignore"):  # a number that is too large becomes infinite, and the check finds it
        return array.astype(np.float32)


def _labels(name: str, field: str, array: NDArray[Any]) -> Labels:
    if array.dtype.kind not in "iu":
        raise ConfigError(
            f"The dataset '{name}' can't be used: {field} has the type {array.dtype}; labels are whole numbers from 0."
        )
    return array.astype(np.int64)


def _check_part(name: str, x_field: str, x: Images, y_field: str, y: Labels, classes: int) -> None:
    fault = _image_fault(x) or None
    field = x_field
    if fault is None:
        field, fault = y_field, _label_fault(y, len(x), x_field, classes)
    if fault is not None:
        raise ConfigError(f"The dataset '{name}' can't be used: {field} {fault}.")


def _image_fault(x: Images) -> str | None:
    """Returns what is wrong with images, in words; None if nothing is."""
    if not isinstance(x, np.ndarray) or x.dtype not in (np.uint8, np.float32):
        return f"has the type {getattr(x, 'dtype', type(x).__name__)}; it must be an array of uint8 or float32"
    if x.ndim != 4 or 0 in x.shape:
        return f"has the shape {x.shape}; it must be (images, channels, height, width), none of them 0"
    if x.dtype == np.float32 and not np.isfinite(x).all():
        return f"has {int(np.count_nonzero(~np.isfinite(x)))} values that are not finite numbers"
    return None


def _label_fault(y: Labels, images: int, x_field: str, classes: int) -> str | None:
    """Returns what is wrong with labels, in words; None if nothing is."""
    if not isinstance(y, np.ndarray) or y.dtype != np.int64:
        return f"has the type {getattr(y, 'dtype', type(y).__name__)}; it must be an array of int64"
    if y.shape != (images,):
        return f"has the shape {y.shape}; it must be ({images},), one label for each image of {x_field}"
    if y.min() < 0 or y.max() >= classes:
        wrong = int(y.min()) if y.min() < 0 else int(y.max())
        return f"holds the label {wrong}; labels go from 0 to {classes - 1}"
    if y.max() >= MOST_CLASSES:
        return f"holds the label {int(y.max())}; labels count from 0, and there may be at most {MOST_CLASSES} classes"
    return None
