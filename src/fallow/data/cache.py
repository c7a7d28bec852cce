"""Where fetched data is kept: plain .npy files, which can be memory-mapped and hold no pickles."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from fallow.errors import DataError

DATA_DIR_VARIABLE = "FALLOW_DATA_DIR"
"""The environment variable that says where fetched data is kept."""

FILES = ("y_test", "y", "x_test", "x")
"""In the order of writing: the largest comes last, so that an interrupted write is noticed at once."""


@dataclass(frozen=True, eq=False)
class Arrays:
    """What a dataset's files hold, as published.

    Attributes:
        x: Training images, shape (n, C, H, W), uint8.
        y: The labels of `x`, shape (n,), uint8.
        x_test: Test images, shape (m, C, H, W), uint8.
        y_test: The labels of `x_test`, shape (m,), uint8.
    """

    x: NDArray[np.uint8]
    y: NDArray[np.uint8]
    x_test: NDArray[np.uint8]
    y_test: NDArray[np.uint8]

    def sha256(self) -> str:
        """Returns the hash of the bytes of x, y, x_test and y_test, in this order, each in row-major order."""
        digest = hashlib.sha256()
        for array in (self.x, self.y, self.x_test, self.y_test):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()


def default_data_dir() -> Path:
    """Returns $FALLOW_DATA_DIR, or ``fallow`` in the user's cache directory (XDG)."""
    if chosen := os.environ.get(DATA_DIR_VARIABLE):
        return Path(chosen).expanduser()
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".cache") / "fallow"


def write_arrays(folder: Path, arrays: Arrays) -> None:
    """Writes four .npy files into a folder, each in one step: a reader finds the old file or the whole new one.

    Args:
        folder: Where to write; it is made if it is missing.
        arrays: The arrays of a dataset.

    Raises:
        DataError: A file can't be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            _write(folder / f"{name}.npy", getattr(arrays, name))
    except OSError as error:
        raise DataError(f"The data can't be written to {folder}: {error.strerror or error}.") from error


def read_arrays(folder: Path, name: str, shapes: dict[str, tuple[int, ...]]) -> Arrays:
    """Returns the arrays in `folder`, memory-mapped, after a check of their shapes, types and sizes.

    Args:
        folder: Where the files are.
        name: The name of the dataset, for the error sentence.
        shapes: The shape that each of the four arrays must have, by name.

    Raises:
        DataError: A file is missing or damaged.
    """
    command = f"fallow data fetch {name}"
    if not all((folder / f"{file}.npy").is_file() for file in FILES):
        raise DataError(f"The dataset '{name}' is not in {folder}; run `{command}` to fetch it.")
    found: dict[str, Any] = {}
    for file, shape in shapes.items():
        path = folder / f"{file}.npy"
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise DataError(f"{path} is damaged ({error}); run `{command}` to fetch it again.") from error
        if array.shape != shape or array.dtype != np.uint8:
            raise DataError(
                f"{path} holds {array.dtype} of shape {array.shape} where uint8 of shape {shape} belongs; run "
                f"`{command}` to fetch it again."
            )
        found[file] = array
    return Arrays(**found)


def _write(path: Path, array: NDArray[np.uint8]) -> None:
    # Not a file of mkstemp, which others who share the folder could not read.
    temporary = path.with_name(f".{path.stem}-{uuid4().hex}")
    try:
        with temporary.open("xb") as file:
            np.save(file, array, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
