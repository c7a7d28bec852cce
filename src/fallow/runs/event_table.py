"""Events as a table: who was selected, started, finished and uploaded, in which slot, and what ages hang on."""

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


def events_table(epoch: int, events: list[Event]) -> pa.Table:
    """Returns the events of an epoch as a table; staleness is null for all but uploads."""
    sizes = [clients.size for _, _, clients, _ in events]
    staleness = [
        pa.nulls(clients.size, pa.int32()) if late is None else as_column(late.astype(np.int32))
        for _, _, clients, late in events
    ]
    kinds = np.repeat(np.array([KINDS.index(kind) for kind, *_ in events], dtype=np.int8), sizes)
    return pa.table(
        [
            as_column(np.full(sum(sizes), epoch, dtype=np.int32)),
            as_column(np.repeat(np.array([slot for _, slot, _, _ in events], dtype=np.int32), sizes)),
            as_column(np.concatenate([clients for _, _, clients, _ in events]).astype(np.int32)),
            pa.DictionaryArray.from_arrays(as_column(kinds), _names()),
            pa.chunked_array(staleness, pa.int32()),
        ],
        schema=EVENT_SCHEMA,
    )


def _names() -> pa.StringArray:
    """Returns KINDS as Arrow's."""
    ends = np.cumsum([0, *map(len, KINDS)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(KINDS), pa.py_buffer(ends), pa.py_buffer("".join(KINDS).encode()))
