"""What events.parquet tells of each client: updates received, how long ago, and what it does in a slot."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from fallow.errors import RunDirectoryError
from fallow.report.runs import EVENTS, Run

KINDS = ("select", "start", "finish", "upload")
MOST_EPOCHS, MOST_CLIENTS = 300, 100
"""Cells of an age map; more epochs or clients are averaged into as many bins."""


@dataclass(frozen=True, eq=False)
class Events:
    """Events of a run, in the order in which they happened.

    Attributes:
        epoch: t, shape (events,), int32; likewise slot and client.
        kind: Place in KINDS, shape (events,), int8.
    """

    epoch: NDArray[np.int32]
    slot: NDArray[np.int32]
    client: NDArray[np.int32]
    kind: NDArray[np.int8]

    def of(self, kind: str) -> "Events":
        """Returns the events of one kind."""
        chosen = self.kind == KINDS.index(kind)
        return Events(self.epoch[chosen], self.slot[chosen], self.client[chosen], self.kind[chosen])


def read_events(run: Run, kinds: tuple[str, ...], epochs: int | None = None) -> Events:
    """Returns the events of some kinds, of the first epochs or of all.

    The file is read piece by piece, since selections can be many times as many as all other events.
    """
    path = run.directory / EVENTS
    wanted = [KINDS.index(kind) for kind in kinds]
    columns: list[list[NDArray[np.int32]]] = [[], [], [], []]
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=2**18, columns=["epoch", "slot", "client", "kind"]):
                epoch, slot, client = (batch.column(name).to_numpy() for name in ("epoch", "slot", "client"))
                kind = _codes(batch.column(batch.schema.get_field_index("kind")))
                kept = np.isin(kind, wanted)
                if epochs is not None:
                    kept &= epoch < epochs
                for column, values in zip(columns, (epoch, slot, client, kind), strict=True):
                    column.append(values[kept].astype(np.int32))
                if epochs is not None and epoch.size and epoch[-1] >= epochs:
                    break
    except (OSError, pa.ArrowException, KeyError) as error:
        raise RunDirectoryError(f"{path} can't be read: {error}.") from error
    epoch, slot, client, kind = (np.concatenate([np.zeros(0, np.int32), *column]) for column in columns)
    if client.size and (client.min() < 0 or client.max() >= run.settings["clients"]):
        raise RunDirectoryError(
            f"{path} holds client {client.max()}, and the run has {run.settings['clients']} clients, from 0."
        )
    return Events(epoch, slot, client, kind.astype(np.int8))


def uploads_per_client(uploads: Events, clients: int) -> NDArray[np.int64]:
    """Returns how many updates of each client were received, shape (N,), int64."""
    return np.bincount(uploads.client, minlength=clients)


def age_map(uploads: Events, clients: int, epochs: int) -> NDArray[np.float64]:
    """Returns the epochs since the last update received, averaged in bins.

    In the epoch of an update it is 0. Before a client's first update it counts from the beginning of the run: t + 1.

    Returns:
        Shape (at most MOST_CLIENTS, at most MOST_EPOCHS), float64.
    """
    rows, columns = min(clients, MOST_CLIENTS), min(epochs, MOST_EPOCHS)
    row_of = np.arange(clients) * rows // clients
    members = np.bincount(row_of, minlength=rows)
    total = np.zeros((rows, columns))
    width = np.zeros(columns)
    last = np.full(clients, -1, dtype=np.int64)
    bounds = np.searchsorted(uploads.epoch, np.arange(epochs + 1))
    for epoch in range(epochs):
        last[uploads.client[bounds[epoch] : bounds[epoch + 1]]] = epoch
        column = epoch * columns // epochs
        total[:, column] += np.bincount(row_of, weights=epoch - last, minlength=rows) / members
        width[column] += 1
    return total / width


def _codes(column: pa.Array) -> NDArray[np.int8]:
    """Returns a column of kinds as places in KINDS."""
    names = column.dictionary.to_pylist()
    table = np.array([KINDS.index(name) if name in KINDS else -1 for name in names], dtype=np.int8)
    codes: NDArray[np.int8] = table[column.indices.to_numpy()]
    return codes
