"""Events as a table: who was selected, started, finished and uploaded, in which slot, and what ages hang on."""

import numpy as np
import pyarrow as pa

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
        pa.nulls(clients.size, pa.int32()) if late is None else pa.array(late) for _, _, clients, late in events
    ]
    kinds = np.repeat(np.array([KINDS.index(kind) for kind, *_ in events], dtype=np.int8), sizes)
    return pa.table(
        [
            pa.array(np.full(sum(sizes), epoch, dtype=np.int32)),
            pa.array(np.repeat(np.array([slot for _, slot, _, _ in events], dtype=np.int32), sizes)),
            pa.array(np.concatenate([clients for _, _, clients, _ in events]).astype(np.int32)),
            pa.DictionaryArray.from_arrays(pa.array(kinds), pa.array(KINDS)),
            pa.chunked_array(staleness, pa.int32()),
        ],
        schema=EVENT_SCHEMA,
    )
