"""Run directories, found and read: the settings, the table of epochs and the totals of each."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.errors import RunDirectoryError
from fallow.plugins.nested import flatten
from fallow.runs.layout import CONFIG, EPOCHS, EVENTS, is_finished
from fallow.runs.reader import read_epochs, read_settings, read_summary


@dataclass(frozen=True, eq=False)
class ReportedRun:
    """A finished run.

    Attributes:
        name: Its path below what all runs have in common.
        directory: Where it is.
        settings: The config, flat, as in ``{"energy.p": 0.1}``.
        summary: What summary.json holds.
        epochs: Columns of epochs.csv by name, each of shape (T,), float64; NaN where nothing was measured.
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
        """Whether version ages were measured."""
        return not bool(np.isnan(self.epochs.get("mean_age_delivered", np.array([np.nan]))).all())

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


def read_runs(folders: Sequence[Path]) -> tuple[list[ReportedRun], list[Unfinished]]:
    """Returns the finished and the unfinished runs in some folders, at any depth, in the order of their names.

    Args:
        folders: Run directories, or folders that contain them.

    Raises:
        RunDirectoryError: There is no finished run, or a run can't be read.
    """
    directories = find_runs(folders)
    parent = _common_parent(directories)
    finished: list[ReportedRun] = []
    unfinished: list[Unfinished] = []
    for directory in directories:
        name = directory.relative_to(parent).as_posix()
        if is_finished(directory):
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
    """Returns the run directories among and below some folders, each once, in natural order.

    Args:
        folders: Run directories, or folders that contain them at any depth.

    Raises:
        RunDirectoryError: A folder does not exist or is a file, or there is no run in any of them.
    """
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
    """Returns a key that sorts run-2 before run-10.

    Args:
        text: Such as a name.
    """
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


def _read_run(directory: Path, name: str) -> ReportedRun:
    settings, summary, epochs = flatten(read_settings(directory)), read_summary(directory), read_epochs(directory)
    if not epochs["epoch"].size:
        raise RunDirectoryError(f"{directory / EPOCHS} holds no epochs, although the run is finished.")
    return ReportedRun(name, directory, settings, summary, epochs)


def _read_unfinished(directory: Path, name: str) -> Unfinished:
    return Unfinished(name, read_epochs(directory)["epoch"].size, int(read_settings(directory)["epochs"]))
