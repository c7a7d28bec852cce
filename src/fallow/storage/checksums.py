"""SHA-256 of files: of those that are there, of those that grow, and lists of them that ``sha256sum -c`` reads too."""

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from fallow.errors import RunDirectoryError
from fallow.storage.files import write_atomically

AGAIN = "the run must be started again"
"""What is left to do where a file is damaged that can't be made again."""

_LINE = re.compile(r"([0-9a-f]{64})  ([^/\\\n]+)\n")


@dataclass(frozen=True)
class Stamp:
    """What a file held up to a point.

    Attributes:
        size: How many bytes.
        sha256: Their SHA-256, in hexadecimal.
    """

    size: int
    sha256: str


class GrowingFile:
    """A text file that is only ever added to, and the SHA-256 of all it holds. Every byte is hashed once.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._size = 0
        self._hash = hashlib.sha256()
        self._file: BinaryIO | None = None

    def begin(self) -> None:
        """Makes the file, which must not be there, and opens it."""
        self._file = self._path.open("xb")

    def check(self, stamp: Stamp) -> None:
        """Checks that the file begins with what it held before; what follows is for `cut_back` to remove.

        Args:
            stamp: What it held.

        Raises:
            RunDirectoryError: The file is missing or shorter, or something else stands there.
        """
        left = stamp.size
        if self._path.exists() and not self._path.is_file():  # a pipe would be waited for
            raise RunDirectoryError(f"{self._path} can't be read: it is no file; {AGAIN}.")
        try:
            with self._path.open("rb") as file:
                while left > 0 and (block := file.read(min(left, 2**20))):
                    self._hash.update(block)
                    left -= len(block)
        except OSError as error:
            raise RunDirectoryError(f"{self._path} can't be read: {error.strerror or error}; {AGAIN}.") from error
        if left:
            raise RunDirectoryError(f"{self._path} is shorter than the checkpoint says; {AGAIN}.")
        if self._hash.hexdigest() != stamp.sha256:
            raise RunDirectoryError(f"{self._path} is damaged: its checksum is wrong; {AGAIN}.")
        self._size = stamp.size

    def cut_back(self) -> None:
        """Removes what follows the bytes that were checked, so that no row is lost or doubled."""
        os.truncate(self._path, self._size)

    def open(self) -> None:
        """Opens the file to add to it."""
        if self._file is None:
            self._file = self._path.open("ab")

    def write(self, text: str) -> int:
        """Adds a text, and returns its length in letters.

        Args:
            text: What to add, to the file as it was opened.
        """
        if self._file is None:
            raise ValueError(f"{self._path} is not open.")
        content = text.encode()
        self._file.write(content)
        self._hash.update(content)
        self._size += len(content)
        return len(text)

    def settle(self) -> Stamp:
        """Writes everything to the disk, and returns what the file holds."""
        if self._file is not None:
            self._file.flush()
            os.fsync(self._file.fileno())
        return Stamp(self._size, self._hash.hexdigest())

    def close(self) -> None:
        """Closes the file; it can be opened again."""
        if self._file is not None:
            self._file.close()
            self._file = None


def digest(content: bytes) -> str:
    """Returns the SHA-256 of some bytes, in hexadecimal.

    Args:
        content: The bytes.
    """
    return hashlib.sha256(content).hexdigest()


def digest_file(path: Path) -> str:
    """Returns the SHA-256 of a file, in hexadecimal.

    Args:
        path: The file.

    Raises:
        OSError: It can't be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_list(path: Path, sums: Mapping[str, str]) -> None:
    """Writes the checksums of a folder's files, in one step.

    Args:
        path: The list, in the same folder.
        sums: The SHA-256 of each file, by its name.
    """
    write_atomically(path, _render(sums))


def read_list(path: Path) -> dict[str, str]:
    """Returns the checksums in a list, by the name of the file.

    Args:
        path: The list.

    Raises:
        OSError: It can't be read.
        ValueError: It is not exactly what `write_list` would write.
    """
    if not path.is_file():
        raise ValueError("it is no file")
    content = path.read_bytes()
    sums = {name: sha256 for sha256, name in _LINE.findall(content.decode("utf-8", errors="replace"))}
    if not sums or _render(sums) != content:
        raise ValueError("it is no list of checksums of Fallow's, or damaged")
    return sums


def find_differences(folder: Path, sums: Mapping[str, str]) -> list[str]:
    """Returns what is wrong with the files of a list, each in a few words.

    Args:
        folder: Of the files.
        sums: As `read_list` returns them.
    """
    words = ((name, _fault(folder / name, sha256)) for name, sha256 in sums.items())
    return [f"{name} {fault}" for name, fault in words if fault]


def is_as_listed(path: Path, required: Iterable[str]) -> bool:
    """Returns whether there is a list of checksums, with some names in it, and all its files are as it says.

    Args:
        path: The list.
        required: Names that must be in it.
    """
    try:
        sums = read_list(path)
    except (OSError, ValueError):
        return False
    return set(required) <= sums.keys() and not find_differences(path.parent, sums)


def _render(sums: Mapping[str, str]) -> bytes:
    return "".join(f"{sha256}  {name}\n" for name, sha256 in sums.items()).encode()


def _fault(path: Path, sha256: str) -> str | None:
    if not path.exists():
        return "is missing"
    if not path.is_file():
        return "is no file"
    try:
        return None if digest_file(path) == sha256 else "is not what the run wrote"
    except OSError as error:
        return f"can't be read ({error.strerror or error})"
