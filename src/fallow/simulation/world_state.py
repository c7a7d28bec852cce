"""The state of a world: all that its next slots depend on, and its books."""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from fallow.energy import Physics


@dataclass(frozen=True, eq=False)
class WorldState:
    """Batteries, what their owners are doing, and what happened to them since the beginning.

    A world owns the arrays of its state and changes them in place.

    Attributes:
        battery: E_i, units stored, shape (N,), int32.
        committed: In training or with an unsent update, shape (N,), bool.
        free_at: The first slot after a client's latest training, shape (N,), int32.
        harvested: Units harvested, before the cap, shape (N,), int64.
        overflow: Units that the cap turned away, shape (N,), int64.
        starts: Trainings started, shape (N,), int32.
        uploads: Updates received, shape (N,), int32.
        probes: Probes paid for, shape (N,), int32; shape (1,) where they are free.
        short_epochs: Epochs whose first slot found the client idle, after the harvest, with less energy than a training
            costs, shape (N,), int32.
    """

    battery: NDArray[np.int32]
    committed: NDArray[np.bool_]
    free_at: NDArray[np.int32]
    harvested: NDArray[np.int64]
    overflow: NDArray[np.int64]
    starts: NDArray[np.int32]
    uploads: NDArray[np.int32]
    probes: NDArray[np.int32]
    short_epochs: NDArray[np.int32]

    @classmethod
    def first(cls, physics: Physics) -> "WorldState":
        """Returns the state before the first slot.

        Args:
            physics: Says how many clients there are and what they store at first.
        """
        clients = physics.clients
        return cls(
            battery=physics.initial.astype(np.int32),
            committed=np.zeros(clients, dtype=np.bool_),
            free_at=np.zeros(clients, dtype=np.int32),
            harvested=np.zeros(clients, dtype=np.int64),
            overflow=np.zeros(clients, dtype=np.int64),
            starts=np.zeros(clients, dtype=np.int32),
            uploads=np.zeros(clients, dtype=np.int32),
            probes=np.zeros(clients if physics.probe_cost.any() else 1, dtype=np.int32),
            short_epochs=np.zeros(clients, dtype=np.int32),
        )

    def copy(self) -> "WorldState":
        """Returns a state with arrays of its own."""
        arrays = vars(self)
        return WorldState(**{name.name: arrays[name.name].copy() for name in fields(self)})
