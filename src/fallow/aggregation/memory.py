"""What a rule remembers of every client: its last change, and their sum over all clients."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.aggregation.base import UpdateError, Weighed
from fallow.aggregation.sums import Term, added
from fallow.models.weights import Weights
from fallow.state import Rows, empty_rows

Numbers = Annotated[
    Literal["float32", "float16"],
    Field(description="what a remembered number is kept as; float16 is scaled row by row, and halves the memory"),
]
Place = Annotated[
    Literal["ram", "disk"],
    Field(description="where changes are remembered; disk is the system's folder for temporary files (TMPDIR)"),
]

LARGEST = 2.0**126


@dataclass(frozen=True, eq=False)
class Changes:
    """The last change of every client.

    Attributes:
        rows: y_i, N rows of P numbers; zeros before a client's first update.
        total: Σ|D_i|·y_i, shape (P,), float64. Kept up to date row by row, so it is part of the memory: added up anew,
            it would differ in its last bits.
        sizes: |D_i|, shape (N,), int64.
    """

    rows: Rows
    total: NDArray[np.float64]
    sizes: NDArray[np.int64]

    def mean(self) -> NDArray[np.float64]:
        """Returns Σ|D_i|·y_i / Σ|D_i| over all clients, shape (P,), float64."""
        return self.total / max(int(self.sizes.sum()), 1)

    def with_changes(self, new: Mapping[int, Weights]) -> "Changes":
        """Returns the memory with the new changes of some clients.

        Args:
            new: By client, each of shape (P,), float32.
        """
        rows = self.rows.with_rows(new)
        terms = (Term(float(self.sizes[client]), rows.row(client), 1.0, self.last(client)) for client in new)
        return Changes(rows, added(self.total, terms), self.sizes)

    def last(self, client: int) -> Weights | None:
        """Returns a client's last change, shape (P,), float32; None before its first update.

        Args:
            client: Its number.
        """
        return self.rows.row(client) if self.rows.versions[client] else None

    def with_sizes(self, sizes: NDArray[np.int64]) -> "Changes":
        """Returns the memory over as many clients or more, whose data may have grown or shrunk.

        Args:
            sizes: |D_i|, shape (N,), int64.
        """
        terms = (
            Term(float(sizes[client] - self.sizes[client]), self.rows.row(client))
            for client in np.flatnonzero(self.rows.versions).tolist()
        )
        return Changes(self.rows.grown(len(sizes)), added(self.total, terms), sizes)


def no_changes(size: int, data_sizes: NDArray[np.int64], memory: Numbers, where: Place) -> Changes:
    """Returns the memory before the first epoch: every change is zero.

    Args:
        size: P.
        data_sizes: |D_i|, shape (N,), int64.
        memory: What a number is kept as.
        where: Where the changes are kept.
    """
    return Changes(empty_rows(len(data_sizes), size, memory, where), np.zeros(size), data_sizes.astype(np.int64))


def sound_change(weighed: Weighed) -> Weights:
    """Returns the change of an update times its staleness weight and importance, shape (P,), float32.

    Args:
        weighed: The update.

    Raises:
        UpdateError: The change is too large to be remembered.
    """
    with np.errstate(over="ignore"):  # too large is said below
        change = weighed.update.change
        if weighed.factor != 1:
            change = change * np.float32(weighed.factor)
    largest = float(max(change.max(initial=0), -change.min(initial=0)))
    if not largest < LARGEST:
        raise UpdateError(
            f"The update of client {weighed.update.client} that started in slot {weighed.update.slot} changes a weight "
            f"by {largest:.3g}, which can't be remembered (at most {LARGEST:.3g}); drop it, or lower the learning rate."
        )
    return change
