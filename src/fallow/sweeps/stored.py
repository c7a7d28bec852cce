"""What lies in the directories of runs: read as data, so that nothing a config names is loaded or run."""

import csv
import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.errors import RunDirectoryError

CONFIG, EPOCHS, SUMMARY = "config.toml", "epochs.csv", "summary.json"


def is_begun(directory: Path) -> bool:
    """Returns whether a run was begun in a directory."""
    return (directory / CONFIG).exists()


def is_finished(directory: Path) -> bool:
    """Returns whether a directory holds a finished run."""
    return (directory / SUMMARY).exists()


def read_settings(directory: Path) -> dict[str, Any]:
    """Returns the resolved settings of a run, by section.

    Raises:
        RunDirectoryError: If there is no config, or it is not TOML.
    """
    path = directory / CONFIG
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RunDirectoryError(f"{path} can't be read: {error.strerror or error}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RunDirectoryError(f"{path} is not valid TOML: {error}.") from error


def read_summary(directory: Path) -> dict[str, Any]:
    """Returns the totals of a finished run.

    Raises:
        RunDirectoryError: If there is no summary, or it is not that of a run.
    """
    path = directory / SUMMARY
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RunDirectoryError(f"{path} can't be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise RunDirectoryError(f"{path} is not valid JSON: {error}.") from error
    if not isinstance(summary, dict):
        raise RunDirectoryError(f"{path} holds no table; it is not the summary of a run.")
    return summary


def read_epochs(directory: Path) -> dict[str, NDArray[np.float64]]:
    """Returns the columns of epochs.csv by name, each of shape (T,), float64; NaN where nothing was measured.

    Raises:
        RunDirectoryError: If there is no table, or it is not one of numbers.
    """
    path = directory / EPOCHS
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            names, rows = reader.fieldnames or (), list(reader)
        return {name: np.array([float(row[name] or "nan") for row in rows]) for name in names}
    except OSError as error:
        raise RunDirectoryError(f"{path} can't be read: {error.strerror or error}.") from error
    except (ValueError, TypeError) as error:
        raise RunDirectoryError(f"{path} can't be read: {error}.") from error
