"""npz:PATH: a user's arrays, in one NumPy archive."""

import struct
import tokenize
import zipfile
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from fallow.data.dataset import Dataset
from fallow.data.from_arrays import dataset_from_arrays
from fallow.errors import ConfigError, DataError
from fallow.memory import check_memory
from fallow.plugins.wording import shortened
from fallow.storage.reading import open_file

PREFIX = "npz:"
ARRAYS = ("x", "y", "x_test", "y_test")
ARCHIVE, ONE_ARRAY = b"PK", b"\x93NUMPY"
"""How a zip archive and a single .npy file begin."""

ENCRYPTED = 1
"""The bit of a member's flags that says so."""

DAMAGE = (
    *(ValueError, TypeError, KeyError, EOFError, MemoryError, OverflowError, RuntimeError, SyntaxError, OSError),
    *(struct.error, tokenize.TokenError, zipfile.BadZipFile, zlib.error),
)
"""What reading a damaged archive can end in."""


@cache
def npz(path: str) -> type:
    """Returns the class, without options, of the dataset in the archive `path`."""

    @dataclass(frozen=True)
    class Npz:
        """Arrays x, y, x_test and y_test, and perhaps classes, client and kind, in a NumPy archive."""

        def load(self, seed: int, data_dir: Path | None = None) -> Dataset:
            """Returns the dataset in the archive; raises `DataError` if it holds pickled objects."""
            return read_npz(Path(path))

    return Npz


def read_npz(path: Path) -> Dataset:
    """Returns the dataset in a NumPy archive.

    Args:
        path: An archive of the arrays `x`, `y`, `x_test` and `y_test`, as ``dataset_from_arrays`` accepts them. It may
            also hold a whole number `classes`; without it, the number of classes is the largest label plus one. An
            array `client` names the client of each training sample, and a text `kind` says what three axes mean.

    Raises:
        DataError: The file can't be read, or an array is missing.
        ConfigError: An array can't be used.

    Examples:
        >>> images, labels = np.zeros((4, 8, 8), dtype=np.uint8), np.array([0, 1, 2, 0])
        >>> np.savez("mine.npz", x=images, y=labels, x_test=images, y_test=labels)
        >>> read_npz(Path("mine.npz")).classes
        3
    """
    with open_file(path, "The dataset", DataError) as file:  # np.load itself would leave a damaged file open
        try:
            _check_archive(path, file)
            archive = np.load(file, allow_pickle=False)
            missing = [name for name in ARRAYS if name not in archive]
            if missing:
                raise DataError(
                    f"The dataset {path} has no array '{missing[0]}'; it must hold {', '.join(ARRAYS)}, and it holds "
                    f"{shortened(', '.join(archive.files)) or 'nothing'}."
                )
            x, y, x_test, y_test = (_array(path, archive, name) for name in ARRAYS)
            classes = _whole_number(path, _array(path, archive, "classes")) if "classes" in archive else None
            client = _array(path, archive, "client") if "client" in archive else None
            kind = _text(path, _array(path, archive, "kind")) if "kind" in archive else None
        except DAMAGE as error:
            raise DataError(
                f"The dataset {path} is no NumPy archive that can be read; it is cut or damaged."
            ) from error
    return dataset_from_arrays(path.stem, x, y, x_test, y_test, classes, client=client, kind=kind)


def _check_archive(path: Path, file: BinaryIO) -> None:
    """Checks what can be told without unpacking anything; the file then stands at its beginning."""
    begin = file.read(len(ONE_ARRAY))
    if begin == ONE_ARRAY:
        raise DataError(f"The dataset {path} is one array, not an archive of several; write it with np.savez.")
    if not begin.startswith(ARCHIVE):  # np.load would treat it as a pickle, and advise to allow that
        raise DataError(f"The dataset {path} is no NumPy archive; write it with np.savez.")
    members = zipfile.ZipFile(file).infolist()
    for member in members:
        if member.flag_bits & ENCRYPTED:
            raise DataError(f"The dataset {path} is encrypted; write it with np.savez, which does not encrypt.")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DataError(
                f"The dataset {path} holds '{shortened(member.filename)}' compressed in a way that NumPy does not "
                "read; write it with np.savez."
            )
    try:
        check_memory(sum(member.file_size for member in members), f"The dataset {path}", "give a smaller one")
    except ConfigError as error:
        raise DataError(str(error)) from None
    file.seek(0)


def _array(path: Path, archive: Any, name: str) -> NDArray[Any]:
    try:
        array = archive[name]
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise DataError(f"The dataset {path} holds Python objects in '{name}'; only numbers are read.") from error
    if not isinstance(array, np.ndarray):
        raise DataError(f"The dataset {path} holds no array in '{name}'; write it with np.savez.")
    return array


def _whole_number(path: Path, array: NDArray[Any]) -> int:
    if array.size != 1 or array.dtype.kind not in "iu":
        shown = str(array.tolist())[:60]
        raise DataError(f"The dataset {path} holds classes = {shown}; it must be one whole number.")
    return int(array.item())


def _text(path: Path, array: NDArray[Any]) -> Any:
    if array.size != 1 or array.dtype.kind != "U":
        raise DataError(f"The dataset {path} holds kind = {str(array.tolist())[:60]}; it must be one text.")
    return array.item()
