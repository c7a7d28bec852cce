"""Run directories, found and read: the settings, the table of epochs and the totals of each."""

import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

from fallow.errors import RunDirectoryError
from fallow.plugins.nested import flatten

CONFIG, EPOCHS, EVENTS, SUMMARY = "config.toml", "epochs.csv", "events.parquet", "summary.json"

COLUMNS = (
    "harvested",
    "overflow",
    "stored",
    "energy_total",
    "starts",
    "uploads",
    "mean_age_selected",
    "mean_age_delivered",
)
"""What the report needs of epochs.csv; `f1` is there with learning."""

TOTALS = ("consumed_train", "consumed_tx", "consumed_probe", "overflow", "energy_total", "starts", "uploads")
"""What the report needs of summary.json."""


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run.

    Attributes:
        name: Its path below what all runs have in common.
        directory: Where it is.
        settings: The config, flat, as in ``{"energy.p": 0.1}``.
        summary: What summary.json holds.
        epochs: Columns of epochs.csv by name, each of shape (T,), float64; nan where nothing was measured.
    """

    name: str
    directory: Path
    settings: Mapping[str, Any]
    summary: Mapping[str, Any]
    epochs: Mapping[str, NDArray[np.float64]]

    @property
    def learns(self) -> bool:
        """Whether there are scores."""
        return "f1" in self.epochs and not bool(np.isnan(self.epochs["f1"]).all())

    @property
    def has_ages(self) -> bool:
        """Whether version ages were recorded."""
        return not bool(np.isnan(self.epochs["mean_age_delivered"]).all())

    @property
    def has_events(self) -> bool:
        """Whether events.parquet was written."""
        return (self.directory / EVENTS).is_file()


@dataclass(frozen=True)
class Unfinished:
    """A run without summary.json.

    Attributes:
        name: Its path below what all runs have in common.
        done: Epochs written so far.
        epochs: T.
    """

    name: str
    done: int
    epochs: int


def read_runs(folders: Sequence[Path]) -> tuple[list[Run], list[Unfinished]]:
    """Returns the finished and the unfinished runs in some folders, at any depth, in the order of their names."""
    directories = find_runs(folders)
    parent = _common_parent(directories)
    finished: list[Run] = []
    unfinished: list[Unfinished] = []
    for directory in directories:
        name = directory.relative_to(parent).as_posix()
        if (directory / SUMMARY).is_file():
            finished.append(_read_run(directory, name))
        else:
            unfinished.append(_read_unfinished(directory, name))
    if not finished:
        where = _listed(folders)
        several = f"None of the {len(unfinished)} runs in {where} is finished"
        what = several if len(unfinished) > 1 else f"The run in {where} is not finished"
        raise RunDirectoryError(f"{what}; `fallow resume DIR` goes on with a run that was stopped.")
    return finished, unfinished


def find_runs(folders: Sequence[Path]) -> list[Path]:
    """Returns the run directories among and below some folders, each once, in natural order."""
    found: set[Path] = set()
    for folder in folders:
        if not folder.is_dir():
            what = "is a file" if folder.exists() else "does not exist"
            raise RunDirectoryError(f"{folder} {what}; give run directories, or folders that contain them.")
        found |= set(_walk(folder.resolve()))
    if not found:
        raise RunDirectoryError(f"There is no run in {_listed(folders)}; a run directory holds {CONFIG} and {EPOCHS}.")
    return sorted(found, key=lambda path: natural(path.as_posix()))


def natural(text: str) -> tuple[tuple[int, int | str], ...]:
    """Returns a key that sorts run-2 before run-10."""
    pieces: list[tuple[int, int | str]] = []
    for character in text:
        if "0" <= character <= "9":
            before = pieces[-1][1] if pieces else ""
            if isinstance(before, int):
                pieces[-1] = (0, before * 10 + int(character))
            else:
                pieces.append((0, int(character)))
        else:
            pieces.append((1, character))
    return tuple(pieces)


def _walk(folder: Path) -> Iterator[Path]:
    for path, inner, files in os.walk(folder):
        if CONFIG in files and EPOCHS in files:
            inner.clear()  # a run holds no runs
            yield Path(path)


def _common_parent(directories: Sequence[Path]) -> Path:
    return Path(os.path.commonpath([directory.parent for directory in directories]))


def _listed(folders: Sequence[Path]) -> str:
    shown = [str(folder) for folder in folders[:3]] + (["…"] if len(folders) > 3 else [])
    return ", ".join(shown)


def _read_run(directory: Path, name: str) -> Run:
    settings = _read_settings(directory / CONFIG)
    path = directory / SUMMARY
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunDirectoryError(f"{path} can't be read: {error}.") from error
    missing = [key for key in (*TOTALS, "mean_age_delivered") if not isinstance(summary, dict) or key not in summary]
    if missing:
        raise RunDirectoryError(f"{path} has no '{missing[0]}'; it is not the summary of a run of this version.")
    epochs = _read_epochs(directory / EPOCHS)
    return Run(name, directory, settings, summary, epochs)


def _read_unfinished(directory: Path, name: str) -> Unfinished:
    settings = _read_settings(directory / CONFIG)
    with (directory / EPOCHS).open("rb") as file:
        lines = sum(1 for _ in file)
    return Unfinished(name, max(0, lines - 1), int(settings["epochs"]))


def _read_settings(path: Path) -> dict[str, Any]:
    try:
        settings = flatten(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise RunDirectoryError(f"{path} can't be read: {error.strerror or error}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RunDirectoryError(f"{path} is not valid TOML: {error}.") from error
    for key, kind in (("seed", int), ("clients", int), ("epochs", int), ("slots_per_epoch", int), ("policy.name", str)):
        if not isinstance(settings.get(key), kind):
            raise RunDirectoryError(f"{path} has no '{key}'; it is not the config of a run.")
    return settings


def _read_epochs(path: Path) -> dict[str, NDArray[np.float64]]:
    numbers = dict.fromkeys((*COLUMNS, "f1"), pa.float64())
    try:
        table = pa_csv.read_csv(path, convert_options=pa_csv.ConvertOptions(column_types=numbers))
    except (OSError, pa.ArrowInvalid) as error:
        raise RunDirectoryError(f"{path} can't be read: {error}.") from error
    missing = [name for name in COLUMNS if name not in table.column_names]
    if missing:
        raise RunDirectoryError(f"{path} has no column '{missing[0]}'; it is not the table of a run of this version.")
    if not table.num_rows:
        raise RunDirectoryError(f"{path} holds no epochs, although the run is finished.")
    return {name: table.column(name).to_numpy() for name in numbers if name in table.column_names}
