"""One writer for each directory."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fallow.errors import RunDirectoryError

PATIENCE = 5.0
"""Seconds to wait for a writer that is about to end."""


class DirectoryLock:
    """A lock on a directory, held until it is closed or its process ends. It leaves no file behind."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    def is_of(self, directory: Path) -> bool:
        """Returns whether the locked directory is still the one at this path: another process may have removed it."""
        if self._descriptor is None:
            return True
        try:
            return os.path.samestat(os.fstat(self._descriptor), directory.stat())
        except FileNotFoundError:
            return False

    def close(self) -> None:
        """Releases the lock, so that other processes can write."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def lock(directory: Path, patience: float | None = None) -> DirectoryLock:
    """Returns the lock of a directory.

    Args:
        directory: A directory that exists.
        patience: Seconds to wait for another writer; None waits `PATIENCE` seconds.

    Raises:
        RunDirectoryError: Another writer still holds the lock.
    """
    try:
        import fcntl
    except ImportError:  # on Windows nothing keeps a second writer out; users must take care
        return DirectoryLock(None)
    descriptor = os.open(directory, os.O_RDONLY)
    deadline = time.monotonic() + (PATIENCE if patience is None else patience)
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(descriptor)
                raise RunDirectoryError(f"{directory} is being written to by another process; wait for it.") from None
            time.sleep(0.1)
        else:
            return DirectoryLock(descriptor)


@contextmanager
def hold(directory: Path) -> Iterator[None]:
    """Locks a directory for the time of a ``with`` block, and makes it first if it is missing.

    At the end it removes the directories that it made and that are still empty.

    Args:
        directory: The directory to lock.

    Raises:
        RunDirectoryError: The directory can't be made, or another writer holds it.
    """
    while True:
        made = [path for path in (directory, *directory.parents) if not path.exists()]
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunDirectoryError(f"{directory} can't be written to: {error.strerror or error}.") from error
        try:
            held = lock(directory)
        except FileNotFoundError:  # the process that held it has just removed it
            continue
        if held.is_of(directory):
            break
        held.close()
    try:
        yield
    finally:
        with suppress(OSError):  # a directory that is not empty stays, and so do those above it
            for path in made:
                path.rmdir()
        held.close()
