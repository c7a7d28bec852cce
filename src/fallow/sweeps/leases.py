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
    """Makes a folder for leases in a sweep's folder.

    The leases of an earlier sweep are removed. If any of its workers are still there, that ends them.

    Args:
        out: The sweep's folder, which is made if it is not there.

    Yields:
        The folder, and the time on `time.monotonic` from which leases may be given.

    Raises:
        RunDirectoryError: The folder can't be written to.
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
    """Makes a lease and returns its file; `take_lease` ends it.

    Args:
        folder: Of the leases.

    Raises:
        RunDirectoryError: Another sweep has taken over, or the folder can't be written to.
    """
    lease = folder / uuid4().hex
    try:
        lease.touch()
    except FileNotFoundError:
        raise RunDirectoryError(f"Another sweep has taken over {folder.parent}; it goes on there.") from None
    except OSError as error:
        raise RunDirectoryError(f"{folder} can't be written to: {error.strerror or error}.") from error
    return lease


def take_lease(lease: Path) -> None:
    """Removes a lease. The worker that had it ends.

    Args:
        lease: As `give_lease` returned it.
    """
    lease.unlink(missing_ok=True)


def report(lease: Path, epochs: int, node: str) -> None:
    """Writes into a worker's lease how far it is and where. If the lease is gone, the process ends here.

    Args:
        lease: As `give_lease` returned it.
        epochs: How many are done.
        node: The id of the worker's node.
    """
    try:
        with lease.open("r+", encoding="utf-8") as file:  # not "w", which would bring back a lease that is gone
            file.write(f"{epochs:09} {node}")
    except OSError:
        os._exit(1)  # an exception would still write what is buffered, into a run that may be another's by now


def read_report(lease: Path) -> tuple[int | None, str]:
    """Returns how many epochs a worker has done, and the id of its node.

    Args:
        lease: As `give_lease` returned it.

    Returns:
        None and an empty id while the worker has not begun, or if the lease can't be read.
    """
    try:
        epochs, node = lease.read_text(encoding="utf-8").split()
        return int(epochs), node
    except (OSError, ValueError):
        return None, ""
