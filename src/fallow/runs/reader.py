"""Run directories as data. Nothing that a config names is imported, and neither PyTorch, pandas nor the engine is.

Runs of the version before are read too. What is not a run of a version that Fallow knows is one sentence.
"""

import csv
import io
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.errors import RunDirectoryError
from fallow.runs.layout import CONFIG, EPOCHS, MODEL, SUMMARY, is_finished, parse_settings
from fallow.storage.files import read_plain

COLUMNS = ("epoch", "harvested", "overflow", "stored", "energy_total", "starts", "uploads")
"""Columns that every version of Fallow has written to epochs.csv."""

TOTALS = ("consumed_train", "consumed_tx", "consumed_probe", "overflow", "energy_total", "starts", "uploads")
"""Totals that every version of Fallow has written to summary.json."""

TEXTS, TABLES = ("policy", "ages"), ("versions", "inputs", "made_with")
"""Keys of summary.json that are texts, and those that are tables; others are numbers, truth values or null."""

SECTIONS = ("policy", "energy", "battery", "cost", "data", "learning", "sgd", "aggregation", "compute", "output")
"""Keys of config.toml that are tables, if they are there."""

Column = NDArray[np.float64] | NDArray[np.int64]


def read_settings(directory: Path) -> dict[str, Any]:
    """Returns the resolved config of a run, by section, as plain data; ``plugins.nested.flatten`` makes it flat.

    Args:
        directory: Of the run, finished or not.

    Raises:
        RunDirectoryError: The directory is no run, or its config can't be read.
    """
    path = directory / CONFIG
    if not path.is_file():
        runs = sorted(path.parent for path in directory.glob(f"*/{CONFIG}"))
        reason = f"it holds {len(runs)}; give one, such as {runs[0]}" if runs else f"it has no {CONFIG}"
        raise RunDirectoryError(f"{directory} is no run directory: {reason}.")
    settings = parse_settings(path, _read_text(path))
    for name in SECTIONS:
        if not isinstance(settings.get(name, {}), dict):
            raise RunDirectoryError(f"{path} has a '{name}' that is no table; it is not the config of a run.")
    if "policy" not in settings:  # it had a key with a dot in it
        raise RunDirectoryError(f"{path} has no table 'policy'; it is not the config of a run.")
    return settings


def read_summary(directory: Path) -> dict[str, Any]:
    """Returns the totals of a finished run.

    Args:
        directory: Of the run.

    Raises:
        RunDirectoryError: summary.json is not there, can't be read, or is none of a known version.
    """
    path = directory / SUMMARY
    try:
        summary = json.loads(_read_text(path))
    except (ValueError, RecursionError) as error:
        why = " ".join(str(error).split()).rstrip(".")
        raise RunDirectoryError(
            f"{path} can't be read: {why}; `fallow verify {directory}` says what else is damaged."
        ) from error
    required = (("policy", str), ("clients", int), ("epochs", int), *((name, int | float) for name in TOTALS))
    for key, kind in required:
        if not isinstance(summary, dict) or not isinstance(summary.get(key), kind):
            raise RunDirectoryError(
                f"{path} has no '{key}'; it is not the summary of a run of a version that Fallow knows."
            )
    for key, value in summary.items():
        if not _is_expected(key, value):
            raise RunDirectoryError(f"{path} has {key} = {str(value)[:40]!r}, which is not what a run writes there.")
    return dict(summary)


def read_epochs(directory: Path) -> dict[str, NDArray[np.float64]]:
    """Returns the columns of epochs.csv by name, each of shape (T,), float64; NaN where nothing was measured.

    For an unfinished run these are the epochs so far.

    Args:
        directory: Of the run, finished or not.

    Raises:
        RunDirectoryError: The table can't be read, or is none of a known version.
    """
    return {name: column.astype(np.float64) for name, column in read_typed_epochs(directory).items()}


def read_typed_epochs(directory: Path) -> dict[str, Column]:
    """Returns the columns of epochs.csv as ``read_epochs`` does, but int64 where all cells are whole numbers.

    Args:
        directory: Of the run, finished or not.

    Returns:
        Columns by name, each of shape (T,), int64 or float64.

    Raises:
        RunDirectoryError: The table can't be read, or is of an unknown version.
    """
    path = directory / EPOCHS
    text = _read_text(path)
    if not is_finished(directory):
        text = text[: text.rfind("\n") + 1]  # a kill can leave half a row
    try:
        head, *rows = list(csv.reader(io.StringIO(text))) or [[]]
    except csv.Error as error:
        raise unreadable(path, error) from error
    missing = [name for name in COLUMNS if name not in head]
    if missing:
        raise RunDirectoryError(
            f"{path} has no column '{missing[0]}'; it is not the table of a run of a version that Fallow knows."
        )
    for number, row in enumerate(rows, start=2):
        if len(row) != len(head):
            raise RunDirectoryError(
                f"{path} can't be read: line {number} has {len(row)} cells, and the table {len(head)} columns."
            )
    try:
        return {name: _numbers([row[place] for row in rows]) for place, name in enumerate(head)}
    except (ValueError, OverflowError) as error:
        raise unreadable(path, error) from error


def read_devices(path: Path, *, finished: bool) -> list[dict[str, Any]]:
    """Returns the rows of devices.csv: `device` is a text, and every other cell a whole number.

    Args:
        path: The file.
        finished: Whether its run is finished; if not, a row may be half written and is left out.

    Raises:
        RunDirectoryError: The table can't be read.
    """
    text = _read_text(path)
    whole = text if finished else text[: text.rfind("\n") + 1]
    try:
        rows = list(csv.DictReader(io.StringIO(whole), strict=True))
        return [{key: cell if key == "device" else int(cell) for key, cell in row.items()} for row in rows]
    except (ValueError, TypeError, csv.Error) as error:
        raise unreadable(path, error) from error


def read_model(directory: Path) -> dict[str, NDArray[np.float32]]:
    """Returns the last global model of a finished run, by parameter, each float32 in its own shape.

    Args:
        directory: Of the run.

    Raises:
        RunDirectoryError: The run learnt nothing, is not finished, or its model can't be read.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    path = directory / MODEL
    if not path.exists():
        why = "it learnt nothing (learning.mode = 'none')" if is_finished(directory) else "it is not finished"
        raise RunDirectoryError(f"The run in {directory} has no model: {why}.")
    try:
        return load(read_plain(path))
    except (OSError, SafetensorError) as error:
        raise unreadable(path, error) from error


def rows_of(columns: Mapping[str, Column]) -> list[dict[str, int | float]]:
    """Returns a dict for each epoch, without the values that were not measured.

    Args:
        columns: By name, each of shape (T,), int64 or float64.
    """
    lists = {name: column.tolist() for name, column in columns.items()}
    length = len(next(iter(lists.values()), []))
    rows = ({name: cells[place] for name, cells in lists.items()} for place in range(length))
    return [{name: value for name, value in row.items() if not math.isnan(value)} for row in rows]


def unreadable(path: Path, error: Exception) -> RunDirectoryError:
    """Returns the error for a file of a run that can't be read.

    Args:
        path: The file.
        error: What went wrong.
    """
    words = error.strerror if isinstance(error, OSError) and error.strerror else " ".join(str(error).split())
    return RunDirectoryError(f"{path} can't be read: {words.rstrip('.')}.")


def _is_expected(key: str, value: object) -> bool:
    """Returns whether a key of summary.json has a value of its kind."""
    if key in TEXTS:
        return isinstance(value, str | None)
    if key in TABLES:
        return isinstance(value, dict if key != "made_with" else list)
    return value is None or isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**63)


def _read_text(path: Path) -> str:
    try:
        return read_plain(path).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from error


def _numbers(cells: list[str]) -> Column:
    if cells and all(cell.removeprefix("-").isdigit() for cell in cells):
        return np.array([int(cell) for cell in cells], dtype=np.int64)
    return np.array([float(cell or "nan") for cell in cells], dtype=np.float64)
