"""What happens in one epoch, in numbers and event by event."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fallow.policies import Mask

Clients = NDArray[np.intp]
"""Some clients by number, in ascending order."""

Event = tuple[str, int, Clients, NDArray[np.int32] | None]
"""(kind, slot, clients, staleness in epochs for uploads)."""


@dataclass
class Happenings:
    """What happened in one epoch, over all clients.

    Attributes:
        selected: The participants 𝒩(t), shape (N,), bool.
        delivered: Clients of whom an update was received, shape (N,), bool.
        harvested: Units, before the cap.
        overflow: Units that the cap turned away.
        consumed_train: Units spent on trainings.
        starts: Trainings begun; likewise finishes, uploads, stale_uploads (begun in an earlier epoch), probes.
        events: What happened to whom, in order, where it was asked for.
    """

    selected: Mask
    delivered: Mask
    harvested: int = 0
    overflow: int = 0
    consumed_train: int = 0
    starts: int = 0
    finishes: int = 0
    uploads: int = 0
    stale_uploads: int = 0
    probes: int = 0
    events: list[Event] = field(default_factory=list)
