"""Tables that grow with a run, kept in parts between its checkpoints and joined at its end."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from fallow.errors import RunDirectoryError
from fallow.storage.checksums import AGAIN, digest_file
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
        settled: The SHA-256 of each part that is safe, by its name; those that follow are added.
    """

    def __init__(
        self, folder: Path, build: "Callable[[Sequence[tuple[int, Item]]], pa.Table]", settled: dict[str, str]
    ) -> None:
        self._folder = folder
        self._build = build
        self._settled = settled
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
        self._settled[self._part.name] = digest_file(open_part)
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


def check_parts(folder: Path, settled: Mapping[str, str]) -> None:
    """Checks that the parts of a table are what was written.

    Args:
        folder: Of the parts; it need not exist if there are none.
        settled: The SHA-256 of each, by its name.

    Raises:
        RunDirectoryError: One is missing or damaged.
    """
    for name, sha256 in settled.items():
        path = folder / name
        if path.parent != folder or not path.is_file():
            raise RunDirectoryError(f"Parts of the table in {folder} are missing; {AGAIN}.")
        if digest_file(path) != sha256:
            raise RunDirectoryError(f"{path} is damaged: its checksum is wrong; {AGAIN}.")


def cut_parts(folder: Path, settled: Mapping[str, str]) -> None:
    """Removes the parts that were never settled, or after the checkpoint.

    Args:
        folder: Of the parts; it need not exist.
        settled: Those of the checkpoint, by name.
    """
    for part in folder.glob("*"):
        if part.name not in settled:
            part.unlink()


def join_parts(folder: Path, path: Path, schema: "pa.Schema", settled: Mapping[str, str]) -> None:
    """Joins the parts of a table, in order, into one file.

    Args:
        folder: Of the parts.
        path: The file to write.
        schema: Of the table.
        settled: The SHA-256 of each part, by its name; without any, the file has no rows.

    Raises:
        RunDirectoryError: A part was changed after it was written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    check_parts(folder, settled)
    whole = path.with_name(path.name + PART)
    with pq.ParquetWriter(whole, schema) as writer:
        held: list[pa.Table] = []
        for name in sorted(settled):
            with pq.ParquetFile(folder / name) as file:
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
