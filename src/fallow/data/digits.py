"""Digits: 1,797 handwritten digits of 8×8 pixels that come with scikit-learn; nothing to fetch."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fallow.data.dataset import Dataset, dataset_from_arrays

TEST_IMAGES = 297
"""Held out for testing, so that 1,500 are left for training."""


@dataclass(frozen=True)
class Digits:
    """Handwritten digits, 8×8: 1,500 to train, 297 to test."""

    def load(self, seed: int, data_dir: Path | None = None) -> Dataset:
        """Returns the digits with grey values from 0 to 1, float32; the same whatever the seed."""
        from sklearn.datasets import load_digits  # type: ignore[import-untyped]  # takes a second: only for those who use it

        x, y = load_digits(return_X_y=True)
        images = (x / 16).astype(np.float32).reshape(-1, 1, 8, 8)
        test = _held_out(y)
        return dataset_from_arrays("digits", images[~test], y[~test], images[test], y[test], classes=10)


def _held_out(y: np.ndarray) -> np.ndarray:
    """Returns which images are for testing, shape (1797,), bool.

    The images stand ordered by class, within a class as in the file, and every sixth or so is taken: each class has its
    share to within one image, and all parts of the file (that is, all writers) are there.
    """
    by_class = np.argsort(y, kind="stable")
    every_sixth = (2 * np.arange(TEST_IMAGES) + 1) * len(y) // (2 * TEST_IMAGES)
    held_out = np.zeros(len(y), dtype=np.bool_)
    held_out[by_class[every_sixth]] = True
    return held_out
