"""Events as a table: who was selected, started, finished and uploaded, in which slot, and what ages hang on."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from fallow.runs.arrow import as_column
from fallow.simulation.events import Event

KINDS = ("select", "start", "finish", "upload", "keep", "drop")

EVENT_SCHEMA = pa.schema(
    [
        ("epoch", pa.int32()),
        ("slot", pa.int32()),
        ("client", pa.int32()),
        ("kind", pa.dictionary(pa.int8(), pa.string())),
        ("staleness", pa.int32()),
    ]
)


def events_table(epochs: Sequence[tuple[int, Sequence[Event]]]) -> pa.Table:
    """Returns the events of some epochs as a table; staleness is null for all but uploads.

    Args:
        epochs: Each with its events, in order.
    """
    events = [event for _, own in epochs for event in own]
    sizes = np.array([event.clients.size for event in events], dtype=np.int64)
    kinds = np.array([KINDS.index(event.kind) for event in events], dtype=np.int8)
    slots = np.array([event.slot for event in events], dtype=np.int32)
    epoch = np.repeat(np.array([t for t, _ in epochs], dtype=np.int32), [len(own) for _, own in epochs])
    clients = [np.zeros(0, dtype=np.intp), *(event.clients for event in events)]
    late = [event.staleness for event in events if event.staleness is not None]
    known = np.repeat([event.staleness is not None for event in events], sizes) if events else np.zeros(0, dtype=bool)
    staleness = np.zeros(known.size, dtype=np.int32)
    staleness[known] = np.concatenate(late) if late else 0
    return pa.table(
        [
            as_column(np.repeat(epoch, sizes)),
            as_column(np.repeat(slots, sizes)),
            as_column(np.concatenate(clients).astype(np.int32)),
            pa.DictionaryArray.from_arrays(as_column(np.repeat(kinds, sizes)), _names()),
            as_column(staleness, known),
        ],
        schema=EVENT_SCHEMA,
    )


def _names() -> pa.StringArray:
    """Returns KINDS as Arrow's."""
    ends = np.cumsum([0, *map(len, KINDS)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(KINDS), pa.py_buffer(ends), pa.py_buffer("".join(KINDS).encode()))
