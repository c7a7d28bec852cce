"""The state of a run between two epochs: restored, the run goes on to the same bytes. It is the checkpoint."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.learning.state import LearningState
from fallow.simulation.participation import Participation
from fallow.simulation.world_state import WorldState


@dataclass(frozen=True, eq=False)
class RunState:
    """All that the next epochs of a run depend on.

    Attributes:
        epoch: The next epoch, t.
        energy_total: Units consumed so far.
        age_selected: Version ages, reset when selected, shape (N,), int32.
        age_delivered: Version ages, reset when an update is received, shape (N,), int32.
        delivered: Clients whose update was received in the epoch before, shape (N,), bool.
        world: Batteries and what their owners do.
        policy: The memory of the policy.
        participation: Who took part and delivered; None where the policy does not need it.
        learning: The model and the clients' memories; None in an energy-only run.
    """

    epoch: int
    energy_total: int
    age_selected: NDArray[np.int32]
    age_delivered: NDArray[np.int32]
    delivered: NDArray[np.bool_]
    world: WorldState
    policy: Any
    participation: Participation | None
    learning: LearningState | None
