"""A run directory from outside: the names of its files, whether it is finished, whether a new run may be put there.

It holds config.toml, epochs.csv, devices.csv, events.parquet, clients.parquet, client_scores.parquet,
model.safetensors, checksums.txt and, written last, summary.json. One without summary.json is not a finished run. While
a run goes on, checkpoint.fallow and rows/ hold its state, and events/ and client_scores/ what goes into those tables so
far; all go when it is finished.
Trackers write to folders of their own.
"""

import shutil
import tomllib
from pathlib import Path
from typing import Any

import tomli_w

from fallow.errors import ConfigError, RunDirectoryError
from fallow.plugins.nested import flatten
from fallow.storage.checksums import is_as_listed
from fallow.storage.files import PART
from fallow.trackers import FOLDERS

CONFIG, EPOCHS, EVENTS, SUMMARY = "config.toml", "epochs.csv", "events.parquet", "summary.json"
CHECKPOINT, EVENT_PARTS, SCORE_PARTS = "checkpoint.fallow", "events", "client_scores"
DEVICES = "devices.csv"
CLIENTS, CLIENT_SCORES, MODEL = "clients.parquet", "client_scores.parquet", "model.safetensors"
PART_FOLDERS, ROWS = (EVENT_PARTS, SCORE_PARTS), "rows"
CHECKSUMS = "checksums.txt"
FILES = (SUMMARY, CHECKSUMS, CHECKPOINT, EPOCHS, DEVICES, EVENTS, CLIENTS, CLIENT_SCORES, MODEL)
"""What a run writes beside its config. The summary comes first, so that a run being removed does not look finished."""

REQUIRED = (("seed", int), ("clients", int), ("epochs", int), ("slots_per_epoch", int), ("policy.name", str))
"""Settings that every version of Fallow has written into config.toml."""


def as_folder(given: object, name: str = "directory") -> Path:
    """Returns the path that a user gave for a folder.

    Args:
        given: What the user gave.
        name: The argument's name, for the error sentence.

    Raises:
        ConfigError: It is no path, or an empty one.
    """
    if not isinstance(given, str | Path) or not str(given):
        raise ConfigError(f"{name} = {given!r} must be the path of a folder, as in {name}='runs/mine'.")
    return Path(given)


def is_finished(directory: Path) -> bool:
    """Returns whether a directory holds a finished run.

    A run that ends removes its checkpoint last. Where one is still there, a summary counts only if every file is what
    the checksums say: an empty or foreign one must not cost the checkpoint.
    """
    if not (directory / SUMMARY).exists():
        return False
    return not has_checkpoint(directory) or is_as_listed(directory / CHECKSUMS, (CONFIG, EPOCHS, SUMMARY))


def is_begun(directory: Path) -> bool:
    """Returns whether a directory holds a run, finished or not."""
    return (directory / CONFIG).exists()


def has_checkpoint(directory: Path) -> bool:
    """Returns whether an unfinished run can go on from a checkpoint."""
    return (directory / CHECKPOINT).exists()


def check_place(directory: Path) -> None:
    """Checks that a directory can be where it is wanted.

    Args:
        directory: Where a run should be; it need not exist.

    Raises:
        RunDirectoryError: It is a file, is below one, or can't be looked at.
    """
    try:
        there = next(path for path in (directory, *directory.parents) if path.exists())
    except OSError as error:
        raise RunDirectoryError(f"{directory} can't be written to: {error.strerror or error}.") from error
    if not there.is_dir():
        raise RunDirectoryError(f"{there} is a file; choose another out (--out).")


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
    if any(directory.iterdir()) and not _is_run(directory):
        raise RunDirectoryError(f"{directory} is not empty and not a run; choose another out (--out).")


def check_links(directory: Path) -> None:
    """Checks that no file of a run is a symbolic link: going on would write to, or cut, what it points at.

    Args:
        directory: Of the run.

    Raises:
        RunDirectoryError: One is.
    """
    parts = [part for name in (*PART_FOLDERS, ROWS) for part in sorted((directory / name).glob("*"))]
    for path in (*(directory / name for name in (CONFIG, *FILES, *PART_FOLDERS, ROWS, *FOLDERS)), *parts):
        if path.is_symlink():
            raise RunDirectoryError(f"{path} is a symbolic link, and a run writes to its own files only; remove it.")


def next_free(folder: Path, name: str) -> Path:
    """Returns the first of ``name-1``, ``name-2``, … that is not in a folder.

    Args:
        folder: Where to look; it need not exist.
        name: A policy's name; it may be ``module:Class``.
    """
    name = name.replace(":", ".")
    number = 1
    while (path := folder / f"{name}-{number}").exists():
        number += 1
    return path


def clear(directory: Path, *, trackers: bool) -> None:
    """Removes a run, but not its config. Follows no symbolic link.

    Args:
        directory: Of the run.
        trackers: Whether to remove also what trackers wrote.
    """
    for name in (*FILES, CONFIG + PART, *PART_FOLDERS, ROWS, *(FOLDERS if trackers else ())):
        _remove(directory / name)


def tidy(directory: Path) -> None:
    """Removes what a finished run no longer needs. A kill right after a run's end can leave such files behind.

    Args:
        directory: Of the run.
    """
    for name in (CHECKPOINT, *PART_FOLDERS, ROWS):
        _remove(directory / name)


def parse_settings(path: Path, text: str) -> dict[str, Any]:
    """Returns the settings in the text of a config.toml, by section, as plain data.

    Args:
        path: The file, for error messages.
        text: What the file holds.

    Raises:
        RunDirectoryError: It is not TOML, or lacks what every version of Fallow has written.
    """
    try:
        settings = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RunDirectoryError(f"{path} is not valid TOML: {error}.") from error
    flat = flatten(settings)
    for key, kind in REQUIRED:
        if not isinstance(flat.get(key), kind):
            raise RunDirectoryError(
                f"{path} has no '{key}'; it is not the config of a run of a version that Fallow knows."
            )
    return settings


def _is_run(directory: Path) -> bool:
    """Returns whether a folder is a run, and not somebody's own with a config.toml or a model.safetensors in it."""
    names = {path.name for path in directory.iterdir()}
    if CONFIG not in names:
        return names <= {CONFIG + PART}  # a kill may have left a config half written, and nothing else
    try:
        text = (directory / CONFIG).read_text(encoding="utf-8")
        settings = parse_settings(directory / CONFIG, text)
    except (RunDirectoryError, OSError, UnicodeDecodeError):
        return False
    return bool(names & {SUMMARY, CHECKPOINT}) or tomli_w.dumps(settings) == text


def _remove(path: Path) -> None:
    """Removes a file, a folder or a link; what a link points at stays."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
