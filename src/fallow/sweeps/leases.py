"""Leases: small files on a file system that many machines share; each is one worker's right to write one run.

The sweep gives a lease and takes it away; the worker says in it how far it is. A worker that was given up as lost, but
is only cut off, finds its lease gone before it writes again, and ends. The lock of a run directory would not do: on a
network file system it may hold on one machine alone.
"""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from fallow.errors import RunDirectoryError

PREFIX = ".leases-"
"""How the name of the folder of leases begins; it goes when the sweep ends."""

REPORT_SECONDS = 1.0
"""How often a worker must look at its lease, and so how long it may go on without one."""

GRACE_SECONDS = 5.0
"""How long a lease is gone before another worker gets one for the same run."""


@contextmanager
def lease_folder(out: Path) -> Iterator[tuple[Path, float]]:
    """Makes a folder for leases in a sweep's folder; yields it, and from when on they may be given.

    The leases of an earlier sweep go: if any of its workers are still there, that ends them.
    """
    folder = out / f"{PREFIX}{uuid4().hex}"
    try:
        out.mkdir(parents=True, exist_ok=True)
        earlier = list(out.glob(f"{PREFIX}*"))
        for left in earlier:
            shutil.rmtree(left, ignore_errors=True)
        folder.mkdir()
    except OSError as error:
        raise RunDirectoryError(f"{out} can't be written to: {error.strerror or error}.") from error
    try:
        yield folder, time.monotonic() + (GRACE_SECONDS if earlier else 0.0)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def give_lease(folder: Path) -> Path:
    """Makes a lease; `take_lease` ends it."""
    lease = folder / uuid4().hex
    try:
        lease.touch()
    except FileNotFoundError:
        raise RunDirectoryError(f"Another sweep has taken over {folder.parent}; it goes on there.") from None
    except OSError as error:
        raise RunDirectoryError(f"{folder} can't be written to: {error.strerror or error}.") from error
    return lease


def take_lease(lease: Path) -> None:
    """Takes a lease away; who had it ends."""
    lease.unlink(missing_ok=True)


def report(lease: Path, epochs: int, node: str) -> None:
    """Writes into its lease how far a worker is and where. Without its lease the process ends here."""
    try:
        with lease.open("r+", encoding="utf-8") as file:  # not "w", which would bring back a lease that is gone
            file.write(f"{epochs:09} {node}")
    except OSError:
        os._exit(1)  # an exception would still write what is buffered, into a run that may be another's by now


def read_report(lease: Path) -> tuple[int | None, str]:
    """Returns how far a worker is and on which node; None while it has not begun, or nobody can tell."""
    try:
        epochs, node = lease.read_text(encoding="utf-8").split()
        return int(epochs), node
    except (OSError, ValueError):
        return None, ""
