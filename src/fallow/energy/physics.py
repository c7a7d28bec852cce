"""What a device can store and what its actions cost: the numbers that do not change during a run."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Physics:
    """What does not change during a run.

    Attributes:
        slots_per_epoch: S.
        capacity: E_max, shape (N,), int32.
        initial: E_i(0), shape (N,), int32.
        train_cost: κ_i, units and slots, shape (N,), int32.
        transmit_cost: Units of an upload.
        probe_cost: Units of a probe; 0 where it is free or the policy makes none (reading 11).
        starts_per_epoch: Most trainings that a client may start in an epoch; 0 is no limit (reading 4).
        ideal: Time and energy set aside: everyone trains in every epoch (the policy `unlimited`).
    """

    slots_per_epoch: int
    capacity: NDArray[np.int32]
    initial: NDArray[np.int32]
    train_cost: NDArray[np.int32]
    transmit_cost: int
    probe_cost: int = 0
    starts_per_epoch: int = 0
    ideal: bool = False

    @property
    def clients(self) -> int:
        """N."""
        return self.capacity.size
