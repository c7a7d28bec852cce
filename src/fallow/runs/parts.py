"""Tables that grow with a run, kept in parts between its checkpoints and joined at its end."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from fallow.storage.files import PART

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

ROWS_AT_ONCE = 2**16
"""Rows that are held before they are written."""

Item = TypeVar("Item")


class PartWriter(Generic[Item]):
    """Writes what the epochs add to a table; `settle` makes it safe, as a part of its own.

    Args:
        folder: Of the parts; it is made with the first.
        build: Returns the rows of some epochs, each given with what it adds.
    """

    def __init__(self, folder: Path, build: "Callable[[Sequence[tuple[int, Item]]], pa.Table]") -> None:
        self._folder = folder
        self._build = build
        self._file: pq.ParquetWriter | None = None
        self._held: list[tuple[int, Item]] = []
        self._held_rows = 0

    def add(self, epoch: int, item: Item, rows: int) -> None:
        """Adds what an epoch has.

        Args:
            epoch: t.
            item: What it has.
            rows: How many rows that is.
        """
        self._held.append((epoch, item))
        self._held_rows += rows
        if self._held_rows >= ROWS_AT_ONCE:
            self._write()

    def settle(self) -> None:
        """Writes everything to the disk; what comes next begins another part."""
        self._write()
        if self._file is None:
            return
        self.close()
        open_part = self._part.with_suffix(".open")
        with open_part.open("rb") as file:
            os.fsync(file.fileno())
        open_part.replace(self._part)

    def close(self) -> None:
        """Closes the part that is being written. It counts for nothing unless it was settled."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self) -> None:
        """Writes what is held, as one group of rows: a group an epoch would cost more than the run."""
        if not self._held:
            return
        import pyarrow.parquet as pq  # only for those who write such tables

        table = self._build(self._held)
        if self._file is None:
            self._folder.mkdir(exist_ok=True)
            self._part = self._folder / f"{self._held[0][0]:09}.parquet"
            self._file = pq.ParquetWriter(self._part.with_suffix(".open"), table.schema)
        self._file.write_table(table)
        self._held, self._held_rows = [], 0


def count_parts(folder: Path) -> int:
    """Returns how many parts are settled.

    Args:
        folder: Of the parts; it need not exist.
    """
    return sum(1 for _ in folder.glob("*.parquet"))


def cut_parts(folder: Path, epoch: int) -> None:
    """Removes the parts that begin at an epoch or later, and those that were never settled.

    Args:
        folder: Of the parts; it need not exist.
        epoch: The next epoch of the run.
    """
    for part in folder.glob("*"):
        if part.suffix != ".parquet" or int(part.stem) >= epoch:
            part.unlink()


def join_parts(folder: Path, path: Path, schema: "pa.Schema") -> None:
    """Joins the parts of a table, in order, into one file.

    Args:
        folder: Of the parts; without any, the file has no rows.
        path: The file to write.
        schema: Of the table.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    whole = path.with_name(path.name + PART)
    with pq.ParquetWriter(whole, schema) as writer:
        held: list[pa.Table] = []
        for part in sorted(folder.glob("*.parquet")):
            with pq.ParquetFile(part) as file:
                for group in range(file.num_row_groups):
                    held.append(file.read_row_group(group))
                    # Groups of one size, so that the file does not tell where the checkpoints were.
                    while sum(table.num_rows for table in held) >= ROWS_AT_ONCE:
                        together = pa.concat_tables(held)
                        writer.write_table(together.slice(0, ROWS_AT_ONCE).combine_chunks())
                        held = [together.slice(ROWS_AT_ONCE)]
        if held:
            writer.write_table(pa.concat_tables(held).combine_chunks())
    with whole.open("rb") as file:
        os.fsync(file.fileno())
    whole.replace(path)
