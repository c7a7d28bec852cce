"""What a dataset is: samples, labels, perhaps their owners, and how to normalise the samples."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fallow.data.faults import MOST_CLASSES, Inputs, Labels, input_fault, label_fault, owner_fault
from fallow.errors import ConfigError
from fallow.plugins.calls import call
from fallow.plugins.returned import plain_array


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples and labels, for training and for testing.

    Samples are images, shape (C, H, W), signals, shape (C, L), such as what a sensor measures, or vectors of D
    features, shape (D,). A feature of a vector is normalised as a channel is.

    Attributes:
        name: The name of the dataset.
        x: Training samples, shape (n, C, H, W), (n, C, L) or (n, D), uint8 or float32; may be memory-mapped.
        y: The labels of `x`, shape (n,), int64, from 0 to classes − 1.
        x_test: Test samples, m of them, in the shape and type of those in `x`.
        y_test: The labels of `x_test`, shape (m,), int64, from 0 to classes − 1.
        classes: How many classes there are.
        mean: The mean of each channel, C (or D) numbers; of x/255 where `x` is uint8, of `x` itself where it is
            float32.
        std: The standard deviation of each channel, in the same unit.
        client: The client that each sample of `x` belongs to, shape (n,), int64, from 0; None where the dataset knows
            no owners. The partition "natural" follows it.
    """

    name: str
    x: Inputs
    y: Labels
    x_test: Inputs
    y_test: Labels
    classes: int
    mean: tuple[float, ...]
    std: tuple[float, ...]
    client: Labels | None = None

    def check(self) -> None:
        """Checks that a model can learn from the dataset.

        Raises:
            ConfigError: A field can't be used; the error names the field and its value.
        """
        if not isinstance(self.classes, int) or self.classes < 2:
            raise ConfigError(f"{self._field('classes')} is {self.classes}; it must be a whole number of at least 2.")
        check_part(self.name, "x", self.x, "y", self.y, self.classes)
        check_part(self.name, "x_test", self.x_test, "y_test", self.y_test, self.classes)
        if self.classes > MOST_CLASSES:
            raise ConfigError(f"{self._field('classes')} is {self.classes}; there may be at most {MOST_CLASSES}.")
        if self.x.shape[1:] != self.x_test.shape[1:] or self.x.dtype != self.x_test.dtype:
            raise ConfigError(
                f"{self._field('x_test')} holds samples of shape {self.x_test.shape[1:]} and type {self.x_test.dtype}, "
                f"but x of shape {self.x.shape[1:]} and type {self.x.dtype}; they must be the same."
            )
        self._check_statistics()
        if (fault := owner_fault(self.client, len(self.x))) is not None:
            raise ConfigError(f"{self._field('client')} {fault}.")

    def normalised(self, x_part: Inputs) -> NDArray[np.float32]:
        """Returns samples with the mean of each channel subtracted, divided by the channel's standard deviation.

        Args:
            x_part: Some of the samples, shape (k, C, …) or (k, D), uint8 or float32 as `x` is.

        Returns:
            A new array of the same shape, float32.
        """
        unit = 255.0 if x_part.dtype == np.uint8 else 1.0
        per_channel = (-1, *[1] * (x_part.ndim - 2))
        scale = (1 / (unit * np.asarray(self.std))).astype(np.float32)
        offset = (np.asarray(self.mean) / np.asarray(self.std)).astype(np.float32)
        result: NDArray[np.float32] = x_part * scale.reshape(per_channel)
        result -= offset.reshape(per_channel)
        return result

    def _check_statistics(self) -> None:
        channels = self.x.shape[1]
        each = "one a feature" if self.x.ndim == 2 else "one a channel"
        for field, values in (("mean", self.mean), ("std", self.std)):
            numbers = plain_array(self._field(field), values)
            if numbers.shape != (channels,) or numbers.dtype.kind not in "iuf" or not np.isfinite(numbers).all():
                raise ConfigError(f"{self._field(field)} is {values}; it must be {channels} finite numbers, {each}.")
        if min(self.std) <= 0:
            raise ConfigError(f"{self._field('std')} is {self.std}; every channel's must be more than 0.")

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


def loaded(source: DatasetOptions, seed: int, data_dir: Path | None = None, name: str = "") -> Dataset:
    """Returns the dataset of a source, checked.

    Args:
        source: Where it comes from.
        seed: The seed of what is random in a generated dataset.
        data_dir: Where fetched data is kept; None is $FALLOW_DATA_DIR or the user's cache.
        name: The name of the dataset, for error sentences.

    Raises:
        ConfigError: It is no `Dataset`, or one of its fields can't be used.
        PluginError: A source that is not Fallow's failed.
    """
    name = name or type(source).__name__
    where = () if data_dir is None else (data_dir,)  # what a user writes may do without it
    return checked_dataset(name, call(f"The dataset '{name}'", "load", source.load, seed, *where))


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


def check_part(name: str, x_field: str, x: Inputs, y_field: str, y: Labels, classes: int) -> None:
    """Checks the samples and the labels of a part of a dataset, to train or to test.

    Args:
        name: The name of the dataset.
        x_field: The name of the samples' array.
        x: The samples.
        y_field: The name of the labels' array.
        y: The labels.
        classes: How many classes there are.

    Raises:
        ConfigError: The samples or the labels can't be used.
    """
    field, fault = x_field, input_fault(x)
    if fault is None:
        field, fault = y_field, label_fault(y, len(x), x_field, classes)
    if fault is not None:
        raise ConfigError(f"The dataset '{name}' can't be used: {field} {fault}.")
