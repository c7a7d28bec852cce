"""Files that are there in full or not at all."""

import os
from pathlib import Path

PART = ".part"
"""Ends the name of a file that is being written."""


def write_atomically(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Writes a file that is either there in full or not there at all, and stays when the power goes.

    What can be made again need not be durable: that is many times faster, and after a loss of power the file may be
    damaged.
    """
    part = path.with_name(path.name + PART)
    try:
        with part.open("wb") as file:
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
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
