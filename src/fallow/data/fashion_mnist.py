"""Fashion-MNIST: 70,000 grey images of clothes, 28×28 pixels, in ten classes."""

import gzip
import io
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fallow.data.cache import Arrays
from fallow.data.dataset import Dataset
from fallow.data.files import LARGEST_FILE, read_files
from fallow.data.published import Published
from fallow.data.sources import debian, https
from fallow.errors import DataError

FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)
BUCKET = "https://fashion-mnist.s3.eu-central-1.amazonaws.com"
REPOSITORY = "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion"


def decode(path: Path) -> Arrays:
    """Returns the arrays in a folder or archive of Fashion-MNIST.

    Args:
        path: A folder or archive that holds the four compressed IDX files.

    Raises:
        DataError: A file is missing or damaged.
    """
    files = read_files(path, set(FILES))
    missing = [name for name in FILES if name not in files]
    if missing:
        raise DataError(
            f"{path} does not hold Fashion-MNIST: {missing[0]} is missing; the files are {', '.join(FILES)}."
        )
    x, y, x_test, y_test = (_idx(name, files[name]) for name in FILES)
    return Arrays(x[:, None], y, x_test[:, None], y_test)


def _idx(name: str, compressed: bytes) -> NDArray[np.uint8]:
    """Returns the values in an IDX file.

    The file holds two zero bytes, the type 8 (uint8), the number of axes, their lengths, then the values.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(compressed)) as file:
            content = file.read(LARGEST_FILE)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{name} is no whole gzip file: {error}.") from error
    axes = 3 if "images" in name else 1
    header = 4 + 4 * axes
    if content[:4] != bytes((0, 0, 8, axes)) or len(content) < header:
        raise DataError(f"{name} is no IDX file of {axes} axes.")
    shape = tuple(int(length) for length in np.frombuffer(content, dtype=">u4", count=axes, offset=4))
    values = np.frombuffer(content, dtype=np.uint8, offset=header)
    if values.size != np.prod(shape):
        raise DataError(f"{name} holds {values.size} values where its header says {shape}.")
    return values.reshape(shape)


@dataclass(frozen=True)
class FashionMnist:
    """Clothes in grey, 28×28: 60,000 to train, 10,000 to test."""

    published: ClassVar[Published] = Published(
        name="fashion-mnist",
        train=60_000,
        test=10_000,
        image=(1, 28, 28),
        classes=10,
        mean=(0.2860,),
        std=(0.3530,),
        sha256="ca3ab2a37f845e1b8ae23cab1b51749a3011ba3bf1d9016176d75cbaabac376f",
        sources=(
            https("the official files", *(f"{BUCKET}/{name}" for name in FILES)),
            https("the official repository", *(f"{REPOSITORY}/{name}" for name in FILES)),
            debian("dataset-fashion-mnist"),
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
