"""The files of a dataset as people have them: in a folder or in an archive, never unpacked on the disk."""

import lzma
import tarfile
import zlib
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from fallow.errors import DataError

LARGEST_FILE = 2**27
"""Bytes; the largest file that any dataset has is 60 MB, and what claims more than twice that is something else."""


def read_files(path: Path, wanted: Collection[str]) -> dict[str, bytes]:
    """Returns the contents of the files with the `wanted` names that are in `path`, by name.

    Args:
        path: A tar archive, compressed or not, or a folder; a folder's direct subfolders are looked into as well.
        wanted: Names without folders. Nothing else is read, and what is missing is left out.
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
            _refuse_large(file, name, file.stat().st_size)
            found[name] = file.read_bytes()
    return found


def _from_archive(path: Path, wanted: Collection[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    # Members are read, never extracted, so no name in an archive can reach the disk.
    with tarfile.open(path) as archive:
        for member in archive:
            name = PurePosixPath(member.name).name
            if name in wanted and name not in found and member.isreg():
                _refuse_large(path, name, member.size)
                content = archive.extractfile(member)
                found[name] = content.read() if content else b""
    return found


def _refuse_large(path: Path, name: str, size: int) -> None:
    if size > LARGEST_FILE:
        raise DataError(f"{name} in {path} has {size} bytes; no file of a dataset has more than {LARGEST_FILE}.")
