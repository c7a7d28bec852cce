"""What events.parquet tells of each client: what it does in a slot, and what its version age hangs on."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from fallow.errors import RunDirectoryError
from fallow.reports.runs import ReportedRun
from fallow.runs.event_table import KINDS
from fallow.runs.layout import EVENTS

ACTS = ("select", "start", "finish", "upload")
"""What clients do. The other events tell what their version ages hang on."""

PIECE = 2**18
"""Events that are read at once."""


@dataclass(frozen=True, eq=False)
class Events:
    """Events of a run, in the order in which they happened.

    Attributes:
        epoch: t, shape (events,), int32.
        slot: Counted from the beginning of the run, shape (events,), int32.
        client: Whose event it is, shape (events,), int32.
        kind: Place in KINDS, shape (events,), int8.
    """

    epoch: NDArray[np.int32]
    slot: NDArray[np.int32]
    client: NDArray[np.int32]
    kind: NDArray[np.int8]

    def of(self, kind: str) -> "Events":
        """Returns the events of one kind.

        Args:
            kind: One of KINDS.
        """
        return self[self.kind == KINDS.index(kind)]

    def __getitem__(self, chosen: NDArray[np.bool_] | slice) -> "Events":
        return Events(self.epoch[chosen], self.slot[chosen], self.client[chosen], self.kind[chosen])


def read_events(run: ReportedRun, kinds: tuple[str, ...], epochs: int | None = None) -> Events:
    """Returns the events of some kinds, of the first epochs or of all.

    Args:
        run: With events.
        kinds: Some of KINDS.
        epochs: How many of the first epochs; None: all.

    Raises:
        RunDirectoryError: The events can't be read.
    """
    return _joined(list(_pieces(run, kinds, epochs)))


def read_by_epoch(run: ReportedRun, kinds: tuple[str, ...]) -> Iterator[Events]:
    """Yields the events of each epoch of a run, in order. An epoch without events yields empty arrays.

    Args:
        run: With events.
        kinds: Some of KINDS; the others are left out.

    Raises:
        RunDirectoryError: The events can't be read.
    """
    held, epoch, end_of_run = _joined([]), 0, len(run.epochs["stored"])
    for piece in _pieces(run, kinds):
        held = _joined([held, piece])
        last = int(held.epoch[-1]) if held.epoch.size else epoch  # it may go on in the next piece
        last = max(epoch, min(last, end_of_run))
        bounds = np.searchsorted(held.epoch, np.arange(epoch, last + 1)).tolist()
        for first, end in pairwise(bounds):
            yield held[first:end]
        held, epoch = held[bounds[-1] :], last
    bounds = np.searchsorted(held.epoch, np.arange(epoch, end_of_run + 1)).tolist()
    for first, end in pairwise(bounds):
        yield held[first:end]


def _pieces(run: ReportedRun, kinds: tuple[str, ...], epochs: int | None = None) -> Iterator[Events]:
    """Yields the events piece by piece, since those of one kind can be many times as many as all others."""
    path = run.directory / EVENTS
    wanted = [KINDS.index(kind) for kind in kinds]
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=PIECE, columns=["epoch", "slot", "client", "kind"]):
                epoch, slot, client = (batch.column(name).to_numpy() for name in ("epoch", "slot", "client"))
                kind = _codes(batch.column(batch.schema.get_field_index("kind")))
                kept = np.isin(kind, wanted)
                if epochs is not None:
                    kept &= epoch < epochs
                piece = Events(epoch, slot, client, kind)[kept]
                if piece.client.size and not 0 <= piece.client.min() <= piece.client.max() < run.settings["clients"]:
                    raise RunDirectoryError(
                        f"{path} holds client {piece.client.max()}, and the run has {run.settings['clients']} clients, "
                        "from 0."
                    )
                yield piece
                if epochs is not None and epoch.size and epoch[-1] >= epochs:
                    return
    except (OSError, pa.ArrowException, KeyError) as error:
        raise RunDirectoryError(f"{path} can't be read: {error}.") from error


def _joined(pieces: list[Events]) -> Events:
    none = np.zeros(0, dtype=np.int32)
    return Events(
        np.concatenate([none, *(piece.epoch for piece in pieces)]),
        np.concatenate([none, *(piece.slot for piece in pieces)]),
        np.concatenate([none, *(piece.client for piece in pieces)]),
        np.concatenate([none.astype(np.int8), *(piece.kind for piece in pieces)]),
    )


def uploads_per_client(uploads: Events, clients: int) -> NDArray[np.int64]:
    """Returns how many updates of each client were received, shape (N,), int64.

    Args:
        uploads: Events of the kind "upload".
        clients: N.
    """
    return np.bincount(uploads.client, minlength=clients)


def _codes(column: pa.Array) -> NDArray[np.int8]:
    """Returns a column of kinds as places in KINDS."""
    names = column.dictionary.to_pylist()
    table = np.array([KINDS.index(name) if name in KINDS else -1 for name in names], dtype=np.int8)
    codes: NDArray[np.int8] = table[column.indices.to_numpy()]
    return codes
