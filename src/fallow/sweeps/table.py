"""The table of a sweep: a row for each finished run, as CSV."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from fallow.errors import RunDirectoryError
from fallow.runs.layout import is_finished
from fallow.runs.reader import TOTALS, read_summary
from fallow.storage.files import check_plain, write_atomically
from fallow.sweeps.grid import PlannedRun

TABLE = "table.csv"


def check_table(path: Path) -> None:
    """Checks that the table of a sweep may be written: nothing is there, or the table of an earlier sweep.

    Args:
        path: The file; it need not exist.

    Raises:
        RunDirectoryError: Something of the user's own is there, or it can't be read.
    """
    try:
        check_plain(path)
        with path.open(encoding="utf-8", newline="") as file:
            columns = next(csv.reader(file), [])
    except FileNotFoundError:
        return
    except (OSError, ValueError, csv.Error):
        columns = []
    if not {"policy", *TOTALS} <= set(columns):
        raise RunDirectoryError(f"{path} is no table of a sweep; move it, or choose another out (--out).")


def finished_rows(runs: Iterable[PlannedRun]) -> list[dict[str, Any]]:
    """Returns a row for each finished run: its place in the grid, then its summary.

    Args:
        runs: Of a sweep; those that are not finished are left out.
    """
    rows = []
    for run in runs:
        if is_finished(run.directory):
            summary = read_summary(run.directory)
            totals = {key: value for key, value in summary.items() if not isinstance(value, dict | list)}
            rows.append(run.point | {key: value for key, value in totals.items() if key not in run.point})
    return rows


def update_table(path: Path, runs: Sequence[PlannedRun]) -> list[dict[str, Any]]:
    """Writes the table of what is finished, and returns its rows.

    Other shards may write it at the same time, from what they see. Whoever writes looks again afterwards, so that the
    last table has every run that was finished before it.

    Args:
        path: The file; without a finished run it is not written.
        runs: Every run of the grid, also those that others carry out.
    """
    while rows := finished_rows(runs):
        write_table(path, rows)
        if sum(is_finished(run.directory) for run in runs) == len(rows):
            break
    return rows


def write_table(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Writes rows as CSV in one step. Several processes may write the same file.

    Args:
        path: The file, which is replaced if it is there.
        rows: Values by column; a row need not have all columns.
    """
    file = io.StringIO()
    writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    own = path.with_name(f".{path.name}-{uuid4().hex}")
    write_atomically(own, file.getvalue().encode())
    own.replace(path)
