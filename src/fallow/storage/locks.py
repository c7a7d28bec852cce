"""One writer for each run directory."""

import os
import time
from pathlib import Path

from fallow.errors import RunDirectoryError

PATIENCE = 5.0
"""Seconds to wait for a writer that is just going away."""


class DirectoryLock:
    """Held until it is closed, or its process ends in whatever way. It leaves no file behind."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    def close(self) -> None:
        """Lets others write."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def lock(directory: Path, patience: float | None = None) -> DirectoryLock:
    """Returns the lock of a directory; that another process writes to it is an error.

    Args:
        directory: It must be there.
        patience: Seconds to wait for another writer; None waits as long as one takes to go away.
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
