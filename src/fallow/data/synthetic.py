"""Synthetic: generated images of any size and number; learnable, but not by a linear model alone."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.data.dataset import Dataset
from fallow.data.faults import MOST_CLASSES
from fallow.data.from_arrays import channel_statistics
from fallow.memory import check_memory
from fallow.rng import Purpose, stream

PATTERNS, TRAIN, TEST = 0, 1, 2
"""The streams of a synthetic dataset, by the number of an epoch: more training images do not change the test set."""

STYLES = 2
"""Patterns of one class. Its images do not lie around one point, so a linear model is not enough."""

WAVES = 4
"""Waves in a pattern."""

IMAGES_AT_ONCE = 4096
"""Images that are generated at a time."""


@dataclass(frozen=True)
class Synthetic:
    """Generated patterns, of any size and number.

    Each class has two smooth random patterns. An image is one of them, shifted, with random contrast, overlaid with a
    pattern of another class and with noise. The overlay makes large images hard too: there the noise of many pixels
    averages out.

    Attributes:
        samples: Training images.
        test_samples: Test images.
        classes: Classes, each with its share of the images to within one.
        channels: Channels of an image.
        height: Rows of an image.
        width: Columns of an image.
        noise: The standard deviation of the noise on each pixel; that of a pattern is 1.
        overlap: The largest contrast of the other class's pattern, as a part of the contrast of the image's class.

    Examples:
        >>> Synthetic(samples=60, test_samples=20, height=8, width=8).load(seed=0).x.shape
        (60, 1, 8, 8)
    """

    samples: Annotated[int, Field(ge=1, description="training images")] = 10_000
    test_samples: Annotated[int, Field(ge=1, description="test images")] = 2_000
    classes: Annotated[
        int, Field(ge=2, le=MOST_CLASSES, description="classes, each with its share of the images to within one")
    ] = 10
    channels: Annotated[int, Field(ge=1, description="channels of an image")] = 1
    height: Annotated[int, Field(ge=1, description="rows of an image")] = 16
    width: Annotated[int, Field(ge=1, description="columns of an image")] = 16
    noise: Annotated[float, Field(ge=0, description="deviation of the noise on each pixel; that of a pattern is 1")] = (
        1.0
    )

    overlap: Annotated[
        float, Field(ge=0, le=1, description="most contrast of the other class's pattern, as a part of the own")
    ] = 0.8

    def load(self, seed: int, data_dir: Path | None = None) -> Dataset:
        """Returns generated images, float32: the same for the same seed and options.

        Args:
            seed: The seed of the images.
            data_dir: Is not used: nothing is fetched.

        Raises:
            ConfigError: No memory of this machine can hold them.
        """
        pixels = self.channels * self.height * self.width
        waves = self.classes * STYLES * WAVES * pixels * 3 * 8  # float64, and two arrays more while they are made
        images = (self.samples + self.test_samples) * pixels * 4  # float32
        check_memory(
            waves + images,
            f"The dataset 'synthetic' of {self.samples} + {self.test_samples} images with {pixels} numbers each, in "
            f"{self.classes} classes,",
            "lower data.samples, data.test_samples, data.classes, or the size of an image",
        )
        patterns = self._patterns(stream(seed, Purpose.DATASET, PATTERNS))
        x, y = self._images(patterns, self.samples, stream(seed, Purpose.DATASET, TRAIN))
        x_test, y_test = self._images(patterns, self.test_samples, stream(seed, Purpose.DATASET, TEST))
        dataset = Dataset("synthetic", x, y, x_test, y_test, self.classes, *channel_statistics(x))
        dataset.check()
        return dataset

    def _patterns(self, rng: np.random.Generator) -> NDArray[np.float32]:
        """Returns sums of slow waves, shape (classes, STYLES, channels, height, width), float32, periodic."""
        kinds = (self.classes, STYLES, self.channels, WAVES, 1, 1)
        cycles_down = rng.integers(-2, 3, kinds)
        cycles_across = rng.integers(-2, 3, kinds)
        phase = rng.uniform(0, 2 * np.pi, kinds)
        row = np.arange(self.height)[:, None] / self.height
        column = np.arange(self.width) / self.width
        waves = np.cos(2 * np.pi * (cycles_down * row + cycles_across * column) + phase)
        patterns: NDArray[np.float32] = (waves.sum(axis=3) * np.sqrt(2 / WAVES)).astype(np.float32)
        return patterns

    def _images(
        self, patterns: NDArray[np.float32], count: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Returns images, shape (count, channels, height, width), float32, and labels, shape (count,), int64."""
        y = rng.permutation(np.arange(count) % self.classes)
        other = (y + rng.integers(1, self.classes, count)) % self.classes
        contrast = rng.uniform(0.5, 1.5, count).astype(np.float32)
        faint = contrast * rng.uniform(0, self.overlap, count).astype(np.float32)
        own_view, other_view = self._views(count, rng), self._views(count, rng)
        x = np.empty((count, *patterns.shape[2:]), dtype=np.float32)
        for first in range(0, count, IMAGES_AT_ONCE):  # all at once would take several times the memory
            part = slice(first, first + IMAGES_AT_ONCE)
            x[part] = _seen(patterns, y[part], own_view[part]) * contrast[part, None, None, None]
            x[part] += _seen(patterns, other[part], other_view[part]) * faint[part, None, None, None]
            x[part] += np.float32(self.noise) * rng.standard_normal(x[part].shape, dtype=np.float32)
        return x, y

    def _views(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Returns a style, a shift down and a shift across for each image, shape (count, 3), int64."""
        return rng.integers(0, (STYLES, max(1, self.height // 4), max(1, self.width // 4)), (count, 3))


def _seen(patterns: NDArray[np.float32], y: NDArray[np.int64], view: NDArray[np.int64]) -> NDArray[np.float32]:
    """Returns the pattern of each label in its style, shifted, shape (images, channels, height, width), float32."""
    channels, height, width = patterns.shape[2:]
    style, down, across = view.T[:, :, None, None, None]
    row = (np.arange(height)[:, None] + down) % height
    column = (np.arange(width) + across) % width
    seen: NDArray[np.float32] = patterns[y[:, None, None, None], style, np.arange(channels)[:, None, None], row, column]
    return seen
