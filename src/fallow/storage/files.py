"""Files that are there in full or not at all."""

import errno
import os
import stat
from pathlib import Path

PART = ".part"
"""The ending of the name of a file that is being written."""


def write_atomically(path: Path, content: bytes | memoryview, *, durable: bool = True) -> None:
    """Writes a file in one step: after a failure, the old file is there, or none.

    Args:
        path: The file; its directory must exist.
        content: What to write.
        durable: Whether the file must survive a loss of power. False is many times faster, and serves for a file that
            can be made again.

    Raises:
        OSError: The file can't be written.
    """
    part = path.with_name(path.name + PART)
    try:
        part.unlink(missing_ok=True)  # what a kill left, or a link: nothing is written through it
        with part.open("xb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
    if not durable:
        return
    sync_folder(path.parent)


def read_plain(path: Path) -> bytes:
    """Returns what a file holds. Unlike ``Path.read_bytes`` it waits for nobody: a pipe or a device is an error.

    Args:
        path: The file, or a link to it.

    Raises:
        OSError: It can't be read, or is no plain file.
    """
    check_plain(path)
    return path.read_bytes()


def check_plain(path: Path) -> None:
    """Checks that a path is a plain file, or a link to one.

    Args:
        path: The file.

    Raises:
        OSError: It is not there, or something else.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "it is no plain file", str(path))


def sync_folder(folder: Path) -> None:
    """Makes what was renamed or removed in a folder survive a loss of power.

    Args:
        folder: The folder.

    Raises:
        OSError: It can't be opened.
    """
    directory = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
