"""A run directory from outside: the names of its files, and whether it is begun and finished.

It holds config.toml, epochs.csv, devices.csv, events.parquet, clients.parquet, client_scores.parquet,
model.safetensors, checksums.txt and, written last, summary.json. One without summary.json is not a finished run. While
a run goes on, checkpoint.fallow and rows/ hold its state, and events/ and client_scores/ what goes into those tables so
far; all go when it is finished.
Trackers write to folders of their own.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

from fallow.errors import ConfigError, RunDirectoryError
from fallow.plugins.nested import flatten
from fallow.plugins.values import check_values
from fallow.storage.checksums import is_as_listed

CONFIG, EPOCHS, EVENTS, SUMMARY = "config.toml", "epochs.csv", "events.parquet", "summary.json"
CHECKPOINT, EVENT_PARTS, SCORE_PARTS = "checkpoint.fallow", "events", "client_scores"
DEVICES = "devices.csv"
CLIENTS, CLIENT_SCORES, MODEL = "clients.parquet", "client_scores.parquet", "model.safetensors"
PART_FOLDERS, ROWS = (EVENT_PARTS, SCORE_PARTS), "rows"
CHECKSUMS = "checksums.txt"
FILES = (SUMMARY, CHECKSUMS, CHECKPOINT, DEVICES, EVENTS, CLIENTS, CLIENT_SCORES, MODEL, EPOCHS)
"""What a run writes beside its config. The summary comes first, so that a run being removed does not look finished, and
the epochs last, by which one that was removed in part is known."""

PART_NAME, ROW_NAME = re.compile(r"\d{9,}\.(parquet|open)"), re.compile(r".+\.npy(\.part)?")
FOLDERS = {EVENT_PARTS: PART_NAME, SCORE_PARTS: PART_NAME, ROWS: ROW_NAME}
"""The folders of a run that goes on, and the names of what it writes into them."""

REQUIRED = (("seed", int), ("clients", int), ("epochs", int), ("slots_per_epoch", int), ("policy.name", str))
"""Settings that every version of Fallow has written into config.toml."""


def as_folder(given: object, name: str = "directory") -> Path:
    """Returns the path that a user gave for a folder.

    Args:
        given: What the user gave.
        name: The argument's name, for the error sentence.

    Raises:
        ConfigError: It is no path, an empty one, or one that can't be written down.
    """
    if not isinstance(given, str | Path) or not str(given):
        raise ConfigError(f"{name} = {given!r} must be the path of a folder, as in {name}='runs/mine'.")
    check_values(str(given), name)
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
