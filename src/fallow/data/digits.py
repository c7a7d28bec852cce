"""Digits: 1,797 handwritten digits of 8×8 pixels that come with Fallow; nothing to fetch.

``digits.md``, beside the file, names their source and licence.
"""

import hashlib
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fallow.data.dataset import Dataset
from fallow.data.from_arrays import dataset_from_arrays
from fallow.errors import DataError

FILE = Path(__file__).with_name("digits.npz")
SHA256 = "b2dab7b501728c22e9119ad76740b2e17c77a231e42d1e592380d90886f1a05e"
"""The checksum of the file."""

WHITE = 16
"""The largest grey value in the file."""

TEST_IMAGES = 297
"""Images for testing, so that 1,500 are left for training."""


@dataclass(frozen=True)
class Digits:
    """Handwritten digits, 8×8: 1,500 to train, 297 to test."""

    def load(self, seed: int, data_dir: Path | None = None) -> Dataset:
        """Returns the digits with grey values from 0 to 1, float32.

        Args:
            seed: Is not used: nothing is random.
            data_dir: Is not used: the digits come with Fallow.

        Raises:
            DataError: The file is missing or damaged.
        """
        grey, y = _read()
        images = (grey / WHITE).astype(np.float32)[:, None]
        test = _held_out(y)
        return dataset_from_arrays("digits", images[~test], y[~test], images[test], y[test], classes=10)


def _read() -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Returns the images, shape (1797, 8, 8), uint8, from 0 to 16, and their labels, shape (1797,), uint8.

    Raises:
        DataError: The file is missing, or is not the one that Fallow came with.
    """
    try:
        content = FILE.read_bytes()
    except OSError as error:
        raise DataError(
            f"The digits in {FILE} can't be read: {error.strerror or error}; install Fallow again."
        ) from error
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256:
        raise DataError(
            f"The digits in {FILE} are not those that Fallow came with: the file's checksum is {found[:12]}…, not "
            f"{SHA256[:12]}…; install Fallow again."
        )
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        return archive["images"], archive["labels"]


def _held_out(y: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Returns which images are for testing, shape (1797,), bool.

    The images are sorted by class, within a class as in the file, and about every sixth is taken. So each class has its
    share to within one image, and all parts of the file (that is, all writers) are represented.
    """
    by_class = np.argsort(y, kind="stable")
    every_sixth = (2 * np.arange(TEST_IMAGES) + 1) * len(y) // (2 * TEST_IMAGES)
    held_out = np.zeros(len(y), dtype=np.bool_)
    held_out[by_class[every_sixth]] = True
    return held_out
