"""One writer for each directory."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fallow.errors import RunDirectoryError

PATIENCE = 5.0
"""Seconds to wait for a writer that is just going away."""


class DirectoryLock:
    """Held until it is closed, or its process ends in whatever way. It leaves no file behind."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    def is_of(self, directory: Path) -> bool:
        """Returns whether the directory that was locked is still the one at its path: another may have removed it."""
        if self._descriptor is None:
            return True
        try:
            return os.path.samestat(os.fstat(self._descriptor), directory.stat())
        except FileNotFoundError:
            return False

    def close(self) -> None:
        """Lets others write."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def lock(directory: Path, patience: float | None = None) -> DirectoryLock:
    """Returns the lock of a directory.

    Args:
        directory: It must be there.
        patience: Seconds to wait for another writer; None waits as long as one takes to go away.

    Raises:
        RunDirectoryError: Another writer holds it.
    """
    try:
        import fcntl
    except ImportError:  # not on Windows: there a second writer is the user's own care
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
    """Makes a directory, if need be, and keeps other writers out of it. What it made and nobody filled it removes.

    Raises:
        RunDirectoryError: It can't be made, or another writer holds it.
    """
    while True:
        made = [path for path in (directory, *directory.parents) if not path.exists()]
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunDirectoryError(f"{directory} can't be written to: {error.strerror or error}.") from error
        try:
            held = lock(directory)
        except FileNotFoundError:  # its last holder has just removed it
            continue
        if held.is_of(directory):
            break
        held.close()
    try:
        yield
    finally:
        with suppress(OSError):  # one of them has something in it, and so have those above
            for path in made:
                path.rmdir()
        held.close()
