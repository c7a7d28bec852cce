"""Checkpoints: arrays and notes in one file that is whole or not there, with a checksum and without pickle.

The first line names the format and the SHA-256 of the rest, which is a safetensors file; its metadata holds the notes
as JSON.

Rows (`fallow.state.Rows`) are in files of their own in a folder beside it, which the checkpoint names with their
SHA-256. A row's file is written before the checkpoint that names it, is never written again, and is removed after the
first checkpoint that no longer names it. So whatever is cut short, the checkpoint that is there finds its rows.
"""

import hashlib
import io
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as tensors_from_bytes
from safetensors.numpy import save as tensors_to_bytes

from fallow.errors import CheckpointError
from fallow.state import Arrays, is_row
from fallow.storage.checksums import AGAIN, digest_file
from fallow.storage.files import sync_folder, write_atomically

FORMAT = 5
NOTE = "row files"
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
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe would be waited for
        raise CheckpointError(f"The checkpoint {path} can't be read: it is no file.")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"The checkpoint {path} can't be read: {error.strerror or error}.") from error
    header = HEADER.match(content)
    if not header:
        raise CheckpointError(f"{path} is damaged, or no checkpoint of Fallow's; {AGAIN}.")
    if int(header[1]) != FORMAT:
        raise CheckpointError(
            f"{path} has the checkpoint format {int(header[1])} and this version of Fallow reads format {FORMAT}; "
            "resume the run with the version that began it."
        )
    payload = content[header.end() :]
    if hashlib.sha256(payload).hexdigest().encode() != header[2]:
        raise CheckpointError(f"{path} is damaged: its checksum is wrong; {AGAIN}.")
    return _parse(path, payload)


def _parse(path: Path, payload: bytes) -> tuple[Arrays, dict[str, Any]]:
    """Returns the arrays and notes of a checkpoint whose checksum is right; it may still be somebody's own making."""
    try:
        arrays = tensors_from_bytes(payload)
        length = int.from_bytes(payload[:8], "little")
        notes = json.loads(json.loads(payload[8 : 8 + length])["__metadata__"]["notes"])
    except (SafetensorError, LookupError, TypeError, ValueError, RecursionError) as error:
        words = " ".join(str(error).split())[:200]
        raise CheckpointError(f"{path} is no checkpoint of Fallow's: {words or type(error).__name__}.") from error
    if not isinstance(notes, dict):
        raise CheckpointError(f"{path} is no checkpoint of Fallow's: its notes are no table.")
    return arrays, notes


class CheckpointFile:
    """A checkpoint that is replaced again and again, with rows, of which only new ones are written.

    Args:
        path: The file.
        folder: Of its rows; made when there are any.
    """

    def __init__(self, path: Path, folder: Path) -> None:
        self._path = path
        self._folder = folder
        self._named: dict[str, str] = {}  # the SHA-256 of each row that the checkpoint names

    def write(self, arrays: Arrays, notes: dict[str, Any]) -> None:
        """Replaces the checkpoint in one step; if that fails, the previous one is still there, with its rows.

        Args:
            arrays: Arrays by name, of any shape, of numbers or bool.
            notes: What JSON can hold, by name.

        Raises:
            OSError: A file can't be written.
        """
        rows = {name: array for name, array in arrays.items() if is_row(name)}
        named = {name: self._named.get(name) or self._write_row(name, row) for name, row in rows.items()}
        new = [self._file(name) for name in named.keys() - self._named.keys()]
        for path in new:  # after all are written, so that the disk can take them in at once
            with path.open("rb") as file:
                os.fsync(file.fileno())
        if new:
            sync_folder(self._folder)
        others = {name: array for name, array in arrays.items() if name not in rows}
        write_checkpoint(self._path, others, notes | {NOTE: named})
        self._named = named
        self._remove_others()

    def read(self) -> tuple[Arrays, dict[str, Any]]:
        """Returns the arrays and notes of the checkpoint, after a check of every checksum. Rows stay in their files.

        A kill may have left rows that no checkpoint names; the next one that is written removes them.

        Raises:
            CheckpointError: A file is missing or damaged, or has another format.
        """
        arrays, notes = read_checkpoint(self._path)
        named = notes.pop(NOTE, None)
        if not isinstance(named, dict) or not all(_is_own_row(name) for name in named):
            raise CheckpointError(f"{self._path} is no checkpoint of Fallow's: it does not say which rows it has.")
        rows = {name: self._read_row(name, digest) for name, digest in named.items()}
        self._named = named
        return arrays | rows, notes

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.npy"

    def _write_row(self, name: str, row: NDArray[Any]) -> str:
        """Writes a row, to be made safe later, and returns its SHA-256."""
        self._folder.mkdir(exist_ok=True)
        content = io.BytesIO()
        np.save(content, row, allow_pickle=False)
        write_atomically(self._file(name), content.getbuffer(), durable=False)
        return hashlib.sha256(content.getbuffer()).hexdigest()

    def _read_row(self, name: str, digest: str) -> NDArray[Any]:
        path = self._file(name)
        if os.path.exists(path) and not os.path.isfile(path):
            raise CheckpointError(f"{path}, which the checkpoint needs, is no file; {AGAIN}.")
        try:
            found = digest_file(path)
        except OSError as error:
            raise CheckpointError(
                f"{path}, which the checkpoint needs, can't be read: {error.strerror or error}; {AGAIN}."
            ) from error
        if found != digest:
            raise CheckpointError(f"{path} is damaged: its checksum is wrong; {AGAIN}.")
        try:
            row: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, OSError) as error:
            raise CheckpointError(f"{path}, which the checkpoint needs, is no array; {AGAIN}.") from error
        return row

    def _remove_others(self) -> None:
        """Removes rows that the checkpoint does not name."""
        kept = {self._file(name) for name in self._named}
        for path in self._folder.glob("*") if self._folder.is_dir() else ():
            if path not in kept:
                path.unlink()


def _is_own_row(name: str) -> bool:
    """Returns whether a row's name stays within its folder."""
    return is_row(name) and "/" not in name and "\\" not in name and "\0" not in name
