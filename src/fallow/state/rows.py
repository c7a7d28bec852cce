"""One row of numbers for each client, in memory or on disk: what a rule remembers of everybody.

A row is replaced as a whole and never changed. So a state shares most rows with the state before it, and a checkpoint
writes only those that are new.
"""

import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.float32] | NDArray[np.float16]

LEAST = -120
"""The least power of two: its reciprocal is still a float32."""

_ROW = re.compile(r"@\d+\.\d+$")


def is_row(name: str) -> bool:
    """Returns whether an array of this name is a row: under one name it never changes.

    Args:
        name: Of an array that `fallow.state.pack` returned.

    Examples:
        >>> is_row("learning.aggregation.memory.rows@17.3"), is_row("learning.weights")
        (True, False)
    """
    return _ROW.search(name) is not None


@dataclass(frozen=True, eq=False)
class Rows:
    """N rows of P numbers. A row that was never set is all zeros and takes no room.

    With float16 a row is scaled by a power of two, so that its largest number is just inside the range: none overflows,
    and 11 bits of each are kept.

    Attributes:
        size: P.
        dtype: What a number is kept as.
        where: Whether rows are in memory, or in files of the system's folder for temporary files (TMPDIR), from which
            the system reads what it needs.
        kept: Each client's row, shape (P,), read-only; None for one that was never set.
        exponents: Each row is what is kept times 2 to this power, shape (N,), int32.
        versions: How often each row was set, shape (N,), int64.

    Examples:
        >>> rows = empty_rows(3, 2).with_rows({1: np.array([1, 2], dtype=np.float32)})
        >>> rows.row(1), rows.row(0), rows.versions
        (array([1., 2.], dtype=float32), array([0., 0.], dtype=float32), array([0, 1, 0]))
    """

    size: int
    dtype: Literal["float32", "float16"]
    where: Literal["ram", "disk"]
    kept: tuple[Row | None, ...]
    exponents: NDArray[np.int32]
    versions: NDArray[np.int64]

    def row(self, client: int) -> NDArray[np.float32]:
        """Returns a client's row, shape (P,), float32; it may not be changed.

        Args:
            client: Its number.
        """
        kept = self.kept[client]
        if kept is None:
            return np.zeros(self.size, dtype=np.float32)
        numbers: NDArray[np.float32] = kept.astype(np.float32, copy=False)
        return numbers if self.dtype == "float32" else numbers * np.float32(2.0 ** int(self.exponents[client]))

    def with_rows(self, new: Mapping[int, NDArray[np.float32]]) -> "Rows":
        """Returns the rows with some of them replaced.

        Args:
            new: The new rows by client, each of shape (P,), float32, finite and below 2^127 in size.
        """
        kept, exponents, versions = list(self.kept), self.exponents.copy(), self.versions.copy()
        for client, numbers in new.items():
            stored: Row = numbers.astype(np.float32)
            if self.dtype == "float16":
                largest = max(numbers.max(initial=0), -numbers.min(initial=0))
                exponent = max(int(np.frexp(largest)[1]) - 15, LEAST)
                exponents[client] = exponent
                stored = (numbers * np.float32(2.0**-exponent)).astype(np.float16)
            kept[client] = self._put(stored)
            versions[client] += 1
        return replace(self, kept=tuple(kept), exponents=exponents, versions=versions)

    def grown(self, clients: int) -> "Rows":
        """Returns the rows with further ones, which were never set.

        Args:
            clients: N of the result.
        """
        more = clients - len(self.kept)
        return replace(
            self,
            kept=(*self.kept, *(None,) * more),
            exponents=np.concatenate([self.exponents, np.zeros(more, dtype=np.int32)]),
            versions=np.concatenate([self.versions, np.zeros(more, dtype=np.int64)]),
        )

    def to_arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """Returns the rows by names that are never used again for other numbers, and what else is needed.

        Args:
            name: What the names begin with.
        """
        rows = {self._name(name, client): kept for client, kept in enumerate(self.kept) if kept is not None}
        size = {f"{name}.size": np.array(self.size)}
        return {**size, f"{name}.exponents": self.exponents, f"{name}.versions": self.versions, **rows}

    def from_arrays(self, name: str, arrays: Mapping[str, NDArray[Any]]) -> "Rows":
        """Returns the rows that `to_arrays` took apart, kept as these are.

        Args:
            name: What the names begin with.
            arrays: What `to_arrays` returned.
        """
        exponents, versions = arrays[f"{name}.exponents"], arrays[f"{name}.versions"]
        size, none = int(arrays[f"{name}.size"]), (None,) * len(versions)
        found = replace(self, size=size, kept=none, exponents=exponents, versions=versions)
        kept = tuple(
            found._put(arrays[found._name(name, client)]) if version else None
            for client, version in enumerate(versions.tolist())
        )
        return replace(found, kept=kept)

    def _name(self, name: str, client: int) -> str:
        return f"{name}@{client}.{self.versions[client]}"

    def _put(self, numbers: Row) -> Row:
        """Returns numbers where they are kept: as they are, or in a file that goes when nobody refers to them."""
        if self.where == "disk" and not isinstance(numbers, np.memmap):
            with tempfile.TemporaryFile() as file:
                numbers.tofile(file)
                file.flush()
                mapped: Row = np.memmap(file, dtype=self.dtype, mode="r", shape=numbers.shape)
                return mapped
        kept: Row = np.array(numbers) if self.where == "ram" and isinstance(numbers, np.memmap) else numbers
        kept.flags.writeable = False
        return kept


def empty_rows(
    clients: int,
    size: int,
    dtype: Literal["float32", "float16"] = "float32",
    where: Literal["ram", "disk"] = "ram",
) -> Rows:
    """Returns rows of which none was set.

    Args:
        clients: N.
        size: P.
        dtype: What a number is kept as.
        where: Whether rows are in memory or on disk.
    """
    none = np.zeros(clients, dtype=np.int64)
    return Rows(size, dtype, where, (None,) * clients, none.astype(np.int32), none)
