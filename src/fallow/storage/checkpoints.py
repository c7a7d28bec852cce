"""Checkpoints: arrays and notes in one file that is whole or not there, with a checksum and without pickle.

The first line names the format and the SHA-256 of the rest, which is a safetensors file; its metadata holds the notes
as JSON.
"""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as tensors_from_bytes
from safetensors.numpy import save as tensors_to_bytes

from fallow.errors import CheckpointError
from fallow.state import Arrays
from fallow.storage.files import write_atomically

FORMAT = 3
HEADER = re.compile(rb"fallow checkpoint (\d+) ([0-9a-f]{64})\n")


def write_checkpoint(path: Path, arrays: Arrays, notes: dict[str, Any], *, durable: bool = True) -> None:
    """Replaces a checkpoint in one step; if that fails, the previous one is still there.

    Args:
        path: The file.
        arrays: Arrays by name, of any shape, of numbers or bool.
        notes: What JSON can hold, by name.
        durable: Whether the file must survive a loss of power; see `write_atomically`.

    Raises:
        OSError: The file can't be written.
    """
    whole = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    payload = tensors_to_bytes(whole, {"notes": json.dumps(notes)})
    digest = hashlib.sha256(payload).hexdigest()
    write_atomically(path, b"fallow checkpoint %d %s\n" % (FORMAT, digest.encode()) + payload, durable=durable)


def read_checkpoint(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """Returns the arrays and notes of a checkpoint, after a check of its checksum.

    Args:
        path: A file that `write_checkpoint` wrote.

    Raises:
        CheckpointError: The file is missing or damaged, or has another format.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"The checkpoint {path} can't be read: {error.strerror or error}.") from error
    header = HEADER.match(content)
    if not header:
        raise CheckpointError(f"{path} is damaged, or no checkpoint of Fallow's; the run must be started again.")
    if int(header[1]) != FORMAT:
        raise CheckpointError(
            f"{path} has the checkpoint format {int(header[1])} and this version of Fallow reads format {FORMAT}; "
            "resume the run with the version that began it."
        )
    payload = content[header.end() :]
    if hashlib.sha256(payload).hexdigest().encode() != header[2]:
        raise CheckpointError(f"{path} is damaged: its checksum is wrong; the run must be started again.")
    try:
        arrays = tensors_from_bytes(payload)
    except SafetensorError as error:
        raise CheckpointError(f"{path} can't be read: {error}.") from error
    length = int.from_bytes(payload[:8], "little")
    notes = json.loads(json.loads(payload[8 : 8 + length])["__metadata__"]["notes"])
    return arrays, notes
