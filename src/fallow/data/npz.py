"""npz:PATH: the user's own arrays, in one NumPy archive."""

import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fallow.data.dataset import Dataset, dataset_from_arrays
from fallow.errors import DataError

PREFIX = "npz:"
ARRAYS = ("x", "y", "x_test", "y_test")


def npz(path: str) -> type:
    """Returns the dataset, of no options, that reads `path`."""

    @dataclass(frozen=True)
    class Npz:
        """Arrays x, y, x_test and y_test, and perhaps classes, in a NumPy archive."""

        def load(self, seed: int, data_dir: Path | None = None) -> Dataset:
            """Reads the archive; pickled objects in it are refused."""
            return read_npz(Path(path))

    return Npz


def read_npz(path: Path) -> Dataset:
    """Returns the dataset in a NumPy archive.

    The archive holds `x`, `y`, `x_test` and `y_test` as ``dataset_from_arrays`` takes them. A number `classes` may be
    there; without it there are as many as the largest label says.
    """
    try:
        with path.open("rb") as file:  # np.load itself would leave a damaged file open
            archive = np.load(file, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise DataError(f"The dataset {path} is one array, not an archive of several; write it with np.savez.")
            missing = [name for name in ARRAYS if name not in archive]
            if missing:
                raise DataError(
                    f"The dataset {path} has no array '{missing[0]}'; it must hold {', '.join(ARRAYS)}, and it holds "
                    f"{', '.join(archive.files) or 'nothing'}."
                )
            x, y, x_test, y_test = (archive[name] for name in ARRAYS)
            classes = int(archive["classes"]) if "classes" in archive else None
    except OSError as error:
        raise DataError(f"The dataset {path} can't be read: {error.strerror or error}.") from error
    except (ValueError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"The dataset {path} is no NumPy archive that can be read: {error}.") from error
    return dataset_from_arrays(path.stem, x, y, x_test, y_test, classes)
