"""The files of a dataset, in a folder or in an archive, which is never unpacked on the disk."""

import lzma
import tarfile
import zlib
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from fallow.errors import DataError

LARGEST_FILE = 2**27
"""Most bytes of a file. The largest file of any dataset here has 60 MB; a file of twice that size is something else."""


def read_files(path: Path, wanted: Collection[str]) -> dict[str, bytes]:
    """Returns the contents of the `wanted` files in `path`, by name.

    Args:
        path: A tar archive, compressed or not, or a folder. The direct subfolders of a folder are searched too.
        wanted: Names without folders. Other files are not read; missing ones are left out.

    Raises:
        DataError: The path can't be read, or a file is too large.
    """
    try:
        if path.is_dir():
            return _from_folder(path, wanted)
        return _from_archive(path, wanted)
    except FileNotFoundError as error:
        raise DataError(f"There is no file or folder {path}.") from error
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise DataError(f"{path} is no whole tar archive; it is cut or damaged, or something else.") from error
    except OSError as error:
        raise DataError(f"{path} can't be read: {error.strerror or error}.") from error


def _from_folder(folder: Path, wanted: Collection[str]) -> dict[str, bytes]:
    places = [folder, *sorted(child for child in folder.iterdir() if child.is_dir())]
    found: dict[str, bytes] = {}
    for name in wanted:
        file = next((place / name for place in places if (place / name).is_file()), None)
        if file is not None:
            _check_size(file, name, file.stat().st_size)
            found[name] = file.read_bytes()
    return found


def _from_archive(path: Path, wanted: Collection[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    # Members are read, never extracted, so no name in an archive can reach the disk.
    with tarfile.open(path) as archive:
        for member in archive:
            name = PurePosixPath(member.name).name
            if name in wanted and name not in found and member.isreg():
                _check_size(path, name, member.size)
                content = archive.extractfile(member)
                found[name] = content.read() if content else b""
    return found


def _check_size(path: Path, name: str, size: int) -> None:
    if size > LARGEST_FILE:
        raise DataError(f"{name} in {path} has {size} bytes; no file of a dataset has more than {LARGEST_FILE}.")
