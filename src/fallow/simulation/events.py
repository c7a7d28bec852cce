"""What happens to clients, one event for all to whom the same happens in a slot."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Clients = NDArray[np.intp]
"""Some clients by number, in ascending order."""

Kind = Literal["select", "start", "finish", "upload", "keep", "drop"]
"""What can happen; ``docs/metrics.md`` says what each means."""


class Event(NamedTuple):
    """What happened to some clients in a slot.

    Attributes:
        kind: What happened.
        slot: When, counted from the beginning of the run.
        clients: To whom, shape (n,), intp.
        staleness: Of uploads: how many epochs late each is, shape (n,), int32.
    """

    kind: Kind
    slot: int
    clients: Clients
    staleness: NDArray[np.int32] | None = None
