"""What in a directory is a run's own: checked before anything is written there, and all that is ever removed."""

import json
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tomli_w

from fallow import trackers as tracking
from fallow.errors import RunDirectoryError
from fallow.runs.layout import (
    CHECKPOINT,
    CONFIG,
    DEVICES,
    EPOCHS,
    FILES,
    FOLDERS,
    SUMMARY,
    check_place,
    has_checkpoint,
    is_finished,
    parse_settings,
)
from fallow.storage.files import PART, read_plain

CHECKPOINT_BEGINS, EPOCHS_BEGIN = b"fallow checkpoint ", b"epoch,"


def check_free(directory: Path, *, overwrite: bool = False) -> None:
    """Checks that a new run may be written to a directory; touches nothing.

    Args:
        directory: It need not exist.
        overwrite: Whether a run that is there may be replaced.

    Raises:
        RunDirectoryError: It holds a run, or files of somebody's own.
    """
    check_place(directory)
    if not directory.exists():
        return
    if is_finished(directory) and not overwrite:
        raise RunDirectoryError(
            f"{directory} holds a finished run; choose another out (--out), or replace it with overwrite=True "
            "(--overwrite)."
        )
    if has_checkpoint(directory) and not overwrite:
        raise RunDirectoryError(
            f"{directory} holds an unfinished run; `fallow resume {directory}` goes on with it, and overwrite=True "
            "(--overwrite) begins again."
        )
    if any(directory.iterdir()):
        _check_replaceable(directory)


def check_links(directory: Path) -> None:
    """Checks that what a run goes on to write is its own: plain files and folders, no link to what is elsewhere.

    Args:
        directory: Of the run.

    Raises:
        RunDirectoryError: A file is a link, a pipe or a folder; or a folder holds what no run writes there.
    """
    for path, folder in _own_paths(directory):
        _check_kind(path, folder=folder)
    _check_parts(directory)
    for name in tracking.FOLDERS:
        for root, folders, files in os.walk(directory / name):
            for entry in (*folders, *files):
                _check_kind(Path(root, entry), folder=entry in folders)


def clear(directory: Path, *, trackers: bool) -> None:
    """Removes a run, but not its config, after `check_free`. Follows no symbolic link.

    Args:
        directory: Of the run.
        trackers: Whether to remove also what trackers wrote.
    """
    for name in (*FILES, CONFIG):
        (directory / (name + PART)).unlink(missing_ok=True)
    for name in FILES:
        (directory / name).unlink(missing_ok=True)
    _remove_parts(directory)
    for name in tracking.FOLDERS if trackers else ():
        path = directory / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def tidy(directory: Path) -> None:
    """Removes what a finished run no longer needs. A kill right after a run's end can leave such files behind.

    Args:
        directory: Of the run.
    """
    (directory / CHECKPOINT).unlink(missing_ok=True)
    _remove_parts(directory)


def _check_replaceable(directory: Path) -> None:
    """Raises an error if a folder that is not empty is no run, or has in a run's place what no run writes."""
    settings = _settings(directory)
    if not _is_run(directory, settings):
        raise RunDirectoryError(f"{directory} is not empty and not a run; choose another out (--out).")
    for path, folder in _own_paths(directory):
        if path.is_dir() and not path.is_symlink() and not folder:
            raise RunDirectoryError(f"{path} is a folder, and no run writes one there; choose another out (--out).")
    _check_parts(directory)
    used = settings.get("output", {}).get("trackers", ())
    for name in tracking.FOLDERS:
        if (directory / name).is_dir() and name not in used and not (directory / name).is_symlink():
            raise RunDirectoryError(
                f"{directory / name} is not of the run, which has no such tracker; move it, or choose another out "
                "(--out)."
            )


def _is_run(directory: Path, settings: Mapping[str, Any]) -> bool:
    """Returns whether a folder is a run, and not somebody's own with files of the same names.

    A summary tells, if it is of the same run as the config, and a checkpoint. Without both, a run that was killed early
    has its config as it was written, and the head of its table.
    """
    names = {path.name for path in directory.iterdir()}
    if not settings:
        return names <= {CONFIG + PART}  # a kill may have left a config half written, and nothing else
    summary = _summary(directory)
    same = (("policy", settings["policy"]["name"]), ("clients", settings["clients"]), ("epochs", settings["epochs"]))
    if all(summary.get(key) == value for key, value in same) or _begins(directory / CHECKPOINT, CHECKPOINT_BEGINS):
        return True
    as_written = tomli_w.dumps(settings).encode() == read_plain(directory / CONFIG)
    return as_written and (_begins(directory / EPOCHS, EPOCHS_BEGIN) or not names & set(FILES))


def _settings(directory: Path) -> dict[str, Any]:
    """Returns the settings of a run; none where there is no config of a run's."""
    path = directory / CONFIG
    try:
        return parse_settings(path, read_plain(path).decode())
    except (RunDirectoryError, OSError, UnicodeDecodeError):
        return {}


def _summary(directory: Path) -> dict[str, Any]:
    """Returns what summary.json holds; nothing if it is not there, or no JSON object."""
    try:
        found = json.loads(read_plain(directory / SUMMARY))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _begins(path: Path, with_bytes: bytes) -> bool:
    """Returns whether a path is a plain file that begins with some bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(with_bytes)) == with_bytes


def _own_paths(directory: Path) -> Iterator[tuple[Path, bool]]:
    """Yields every path that a run may write to in its directory, and whether it is a folder."""
    for name in (CONFIG, *FILES):
        yield directory / name, False
        yield directory / (name + PART), False
    for name in (*FOLDERS, *tracking.FOLDERS):
        yield directory / name, True


def _check_kind(path: Path, *, folder: bool) -> None:
    """Raises an error if a path is there and is no plain file, or no folder."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISLNK(found.st_mode):
        raise RunDirectoryError(f"{path} is a symbolic link, and a run writes to its own files only; remove it.")
    if not (stat.S_ISDIR(found.st_mode) if folder else stat.S_ISREG(found.st_mode)):
        raise RunDirectoryError(f"{path} is no {'folder' if folder else 'plain file'}, as a run has there; remove it.")
    in_place = path.name in (EPOCHS, DEVICES) or path.name.endswith(PART)  # the others are replaced
    if in_place and found.st_nlink > 1 and not folder:
        raise RunDirectoryError(f"{path} is one file with another (a hard link); put a copy in its place.")


def _check_parts(directory: Path) -> None:
    """Raises an error if a folder of parts holds what no run writes there."""
    for name, own in FOLDERS.items():
        folder = directory / name
        for path in sorted(folder.iterdir()) if folder.is_dir() and not folder.is_symlink() else ():
            if not own.fullmatch(path.name):
                raise RunDirectoryError(f"{path} is nothing that a run writes; move it out of the run's directory.")
            _check_kind(path, folder=False)


def _remove_parts(directory: Path) -> None:
    """Removes the parts of tables and the rows, but nothing else; what a link points at stays."""
    for name, own in FOLDERS.items():
        folder = directory / name
        if folder.is_symlink() or not folder.is_dir():
            folder.unlink(missing_ok=True)
            continue
        for path in list(folder.iterdir()):
            if own.fullmatch(path.name):
                path.unlink()
        if not any(folder.iterdir()):
            folder.rmdir()
