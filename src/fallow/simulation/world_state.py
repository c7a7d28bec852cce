"""The state of a world: all that its next slots depend on, and its books."""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from fallow.energy import Physics

NO_UPLOAD = -1
"""In place of the slot in which an upload arrives: there is none under way."""


@dataclass(frozen=True, eq=False)
class WorldState:
    """Batteries, what their owners are doing, and what happened to them since the beginning.

    A world owns the arrays of its state and changes them in place. An array of something that the world does not have
    has the shape (1,) in place of (N,).

    Attributes:
        battery: E_i, units stored, shape (N,), int32.
        committed: In training or with an update that is not received, shape (N,), bool.
        free_at: The first slot after a client's latest training, shape (N,), int32.
        harvested: Units harvested, before any loss, shape (N,), int64.
        overflow: Units that the cap turned away, shape (N,), int64.
        starts: Trainings started, shape (N,), int32.
        uploads: Updates received, shape (N,), int32.
        probes: Probes paid for, shape (N,), int32; shape (1,) where they are free.
        short_epochs: Epochs whose first slot found the client idle, after the harvest, with less energy than a training
            costs, shape (N,), int32.
        sends: Uploads begun, shape (N,), int32; shape (1,) where every upload arrives in its first slot.
        arrives_at: The slot in which an upload under way arrives, shape (N,), int32; −1 where there is none; shape (1,)
            where every upload arrives in its first slot.
        listens: Epochs in which listening was paid for, shape (N,), int32; shape (1,) where it is free.
        downloads: Models whose download was paid for, shape (N,), int32; shape (1,) where it is free.
        asleep: Asleep, shape (N,), bool; shape (1,) where nobody can be.
        asleep_slots: Slots slept through, shape (N,), int32; shape (1,) where nobody sleeps.
        idle_drain: Units that devices drew while they were awake, shape (N,), int64; shape (1,) where they draw none.
        leakage: Units that leaked away, shape (N,), int64; shape (1,) without self-discharge.
        leak_fraction: What is carried of the leakage, less than a unit, in 2^−32, shape (N,), uint32; shape (1,)
            without self-discharge.
        conversion_loss: Units of the harvest that did not reach the battery, shape (N,), int64; shape (1,) where all of
            it does.
        conversion_fraction: What is carried of the harvest, less than a unit, in 2^−32, shape (N,), uint32; shape (1,)
            where all of it reaches the battery.
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
    sends: NDArray[np.int32]
    arrives_at: NDArray[np.int32]
    listens: NDArray[np.int32]
    downloads: NDArray[np.int32]
    asleep: NDArray[np.bool_]
    asleep_slots: NDArray[np.int32]
    idle_drain: NDArray[np.int64]
    leakage: NDArray[np.int64]
    leak_fraction: NDArray[np.uint32]
    conversion_loss: NDArray[np.int64]
    conversion_fraction: NDArray[np.uint32]

    @classmethod
    def first(cls, physics: Physics) -> "WorldState":
        """Returns the state before the first slot.

        Args:
            physics: Says how many clients there are, what they store at first, and what their world has.
        """
        clients = physics.clients

        def size(has: bool) -> int:
            return clients if has else 1

        long_uploads, sleeps = size(physics.long_uploads), size(physics.sleeps)
        leaks, converts = size(physics.leaks), size(physics.converts)
        return cls(
            battery=physics.initial.astype(np.int32),
            committed=np.zeros(clients, dtype=np.bool_),
            free_at=np.zeros(clients, dtype=np.int32),
            harvested=np.zeros(clients, dtype=np.int64),
            overflow=np.zeros(clients, dtype=np.int64),
            starts=np.zeros(clients, dtype=np.int32),
            uploads=np.zeros(clients, dtype=np.int32),
            probes=np.zeros(size(physics.pays_probes), dtype=np.int32),
            short_epochs=np.zeros(clients, dtype=np.int32),
            sends=np.zeros(long_uploads, dtype=np.int32),
            arrives_at=np.full(long_uploads, NO_UPLOAD, dtype=np.int32),
            listens=np.zeros(size(physics.listens), dtype=np.int32),
            downloads=np.zeros(size(physics.downloads), dtype=np.int32),
            asleep=np.zeros(sleeps, dtype=np.bool_),
            asleep_slots=np.zeros(sleeps, dtype=np.int32),
            idle_drain=np.zeros(size(physics.idles), dtype=np.int64),
            leakage=np.zeros(leaks, dtype=np.int64),
            leak_fraction=np.zeros(leaks, dtype=np.uint32),
            conversion_loss=np.zeros(converts, dtype=np.int64),
            conversion_fraction=np.zeros(converts, dtype=np.uint32),
        )

    def copy(self) -> "WorldState":
        """Returns a state with arrays of its own."""
        arrays = vars(self)
        return WorldState(**{name.name: arrays[name.name].copy() for name in fields(self)})
