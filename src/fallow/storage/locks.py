"""One writer for each directory."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fallow.errors import HeldError, RunDirectoryError

PATIENCE = 5.0
"""Seconds to wait for a writer that is about to end."""

MAKING_TRIES = 20
"""How often a directory is made whose parents another process removes, because nothing came to be in them."""

LOCKS = Path("/proc/locks")
"""Where Linux lists who holds which lock."""


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
        HeldError: Another writer still holds the lock.
        OSError: The directory is not there, or can't be opened.
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
                holder = _name_holder(descriptor)
                os.close(descriptor)
                raise HeldError(f"{directory} is being written to by {holder}; wait for it.") from None
            time.sleep(0.1)
        else:
            return DirectoryLock(descriptor)


@contextmanager
def hold(directory: Path, patience: float | None = None) -> Iterator[None]:
    """Locks a directory for the time of a ``with`` block, and makes it first if it is missing.

    At the end it removes the directories that it made and that are still empty.

    Args:
        directory: The directory to lock.
        patience: Seconds to wait for another writer; None waits `PATIENCE` seconds.

    Raises:
        HeldError: Another writer holds it.
        RunDirectoryError: The directory can't be made or opened.
    """
    held, made = _take(directory, patience)
    with _holding(held, made):
        yield


@contextmanager
def hold_next(folder: Path, name: str) -> Iterator[Path]:
    """Makes and locks the first of ``name-1``, ``name-2``, … that is not in a folder. No other process gets the same.

    At the end it removes the directories that it made and that are still empty.

    Args:
        folder: Where to make it; it need not exist.
        name: What its name begins with.

    Yields:
        The new directory.

    Raises:
        RunDirectoryError: The directory can't be made.
    """
    number = 1
    while True:
        directory = folder / f"{name}-{number}"
        try:
            held, made = _take(directory, new=True)
            break
        except FileExistsError:
            number += 1
    with _holding(held, made):
        yield directory


def _take(directory: Path, patience: float | None = None, *, new: bool = False) -> tuple[DirectoryLock, list[Path]]:
    """Makes a directory, locks it, and returns the lock and the directories that were missing, the lowest first.

    Args:
        directory: What to lock.
        patience: Seconds to wait for another writer; None waits `PATIENCE` seconds.
        new: Whether it is an error if it is there.

    Raises:
        FileExistsError: `new`, and something is there.
        HeldError: Another writer holds it.
        RunDirectoryError: It can't be made or opened.
    """
    tries = MAKING_TRIES
    while True:
        missing = [path for path in (directory, *directory.parents) if not path.exists()]
        try:
            directory.parent.mkdir(parents=True, exist_ok=True)
            directory.mkdir(exist_ok=not new)
            held = lock(directory, patience)
            if held.is_of(directory):
                return held, missing
            held.close()  # of a directory that another process has just removed
        except OSError as error:
            if new and isinstance(error, FileExistsError) and os.path.lexists(directory):
                raise
            tries -= isinstance(error, FileNotFoundError)  # another process may have removed it, or one above it
            if not tries or not isinstance(error, FileNotFoundError):
                raise RunDirectoryError(f"{directory} can't be written to: {error.strerror or error}.") from error


@contextmanager
def _holding(held: DirectoryLock, made: list[Path]) -> Iterator[None]:
    """Releases a lock at the end of a ``with`` block, and removes what was made for it and is still empty."""
    try:
        yield
    finally:
        with suppress(OSError):  # a directory that is not empty stays, and so do those above it
            for path in made:
                path.rmdir()
        held.close()


def _name_holder(descriptor: int) -> str:
    """Returns who holds the lock of an open directory, in words, as far as the system says."""
    found = os.fstat(descriptor)
    place = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    with suppress(OSError):
        for line in LOCKS.read_text(encoding="utf-8").splitlines():
            words = line.split()  # as in 1: FLOCK ADVISORY WRITE 4711 08:01:1234 0 EOF
            if words[1] == "FLOCK" and words[5] == place and int(words[4]) > 0:  # 0: of another container
                return f"another process ({words[4]})"
    return "another process"
