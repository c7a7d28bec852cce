"""A user's table of numbers in CSV: its first row, its columns, and its first wrong cell."""

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

from fallow.errors import TraceError
from fallow.plugins.wording import in_words
from fallow.storage.reading import open_file

Fault = Callable[[str], str | None]
"""From a cell to what is wrong with it, in words; None if nothing is."""


def read_first_row(path: Path, what: str) -> list[str]:
    """Returns the cells of the first row; none of an empty file.

    Args:
        path: A CSV file in UTF-8.
        what: What it is, as the beginning of a sentence, as in "The trace".

    Raises:
        TraceError: The file can't be read, or is no CSV.
    """
    with _open_text(path, what) as file:
        try:
            return next(csv.reader(file), [])
        except (UnicodeDecodeError, csv.Error):
            raise TraceError(f"{what} {path} can't be read: it is no CSV file in UTF-8.") from None


def read_columns(path: Path, what: str, types: Sequence[Any], *, has_header: bool) -> list[Any]:
    """Returns the columns as Arrow arrays, without empty cells.

    Args:
        path: A CSV file in UTF-8.
        what: What it is, as the beginning of a sentence.
        types: The Arrow type of each column.
        has_header: Whether the first row is none of numbers.

    Raises:
        TraceError: The file can't be read.
        ValueError: A cell is missing or of another type, or a row has other columns.
    """
    import pyarrow as pa  # slow to import, and only files need it
    import pyarrow.csv as pa_csv

    names = [str(column) for column in range(len(types))]
    with open_file(path, what, TraceError) as file:
        try:
            table = pa_csv.read_csv(
                file,
                read_options=pa_csv.ReadOptions(column_names=names, skip_rows=int(has_header)),
                parse_options=pa_csv.ParseOptions(ignore_empty_lines=False),
                convert_options=pa_csv.ConvertOptions(column_types=dict(zip(names, types, strict=True))),
            )
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise ValueError(in_words(error)) from error
    columns = [table.column(name) for name in names]
    if any(column.null_count for column in columns):
        raise ValueError("a cell is missing")
    return columns


def find_fault(path: Path, what: str, first: list[str], fault: Fault, *, has_header: bool, start: int) -> str | None:
    """Returns where the first wrong cell is, and what is wrong with it; None if none is. Reads slowly, cell by cell.

    Args:
        path: A CSV file in UTF-8.
        what: What it is, as the beginning of a sentence.
        first: The cells of its first row.
        fault: Judges a cell.
        has_header: Whether the first row is none of numbers.
        start: The first column that is judged.

    Raises:
        TraceError: The file can't be read.
    """
    with _open_text(path, what, errors="replace") as file:
        rows = enumerate(csv.reader(file), start=1)
        try:
            for line, row in rows:
                if line == 1 and has_header:
                    continue
                if len(row) != len(first) and not (len(first) == 1 and not row):
                    return f"{path}, line {line}: {len(row)} cells where line 1 has {len(first)}"
                for column, cell in enumerate((row or [""])[start:], start=start):
                    if words := fault(cell):
                        name = f"column '{first[column]}'" if has_header else f"column {column + 1}"
                        return f"{path}, line {line}, {name}: {words}"
        except csv.Error:
            return None  # whoever could not read it knows why
    return None


def is_number(cell: str) -> bool:
    """Returns whether a cell holds a number.

    Examples:
        >>> is_number("1e3"), is_number("watts")
        (True, False)
    """
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _open_text(path: Path, what: str, errors: str = "strict") -> TextIO:
    return io.TextIOWrapper(open_file(path, what, TraceError), encoding="utf-8-sig", errors=errors, newline="")
