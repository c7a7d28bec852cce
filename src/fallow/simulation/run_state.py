"""The state of a run between two epochs: restored, the run goes on to the same bytes. It is the checkpoint."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.errors import StateError
from fallow.learning.state import LearningState
from fallow.simulation.participation import Participation
from fallow.simulation.world_state import WorldState
from fallow.state import pack

OWNED = ("policy.", "learning.aggregation.")
"""Arrays whose shapes are the business of a policy or of a rule."""


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


def check_fits(state: RunState, first: RunState, epochs: int) -> None:
    """Checks that a state is one of a run, as far as its shapes tell. A checkpoint may be somebody's own making.

    Args:
        state: The state.
        first: The state of the run before its first epoch.
        epochs: T.

    Raises:
        StateError: It is not.
    """
    if not 0 < state.epoch <= epochs:
        raise StateError(f"It is of epoch {state.epoch}, and the run has {epochs}.")
    missing = [
        name for name in ("participation", "learning") if (vars(state)[name] is None) != (vars(first)[name] is None)
    ]
    if missing:
        raise StateError(f"Its '{missing[0]}' is of another run.")
    found, known = pack(state)[0], pack(first)[0]
    clients = first.delivered.shape
    for name, array in known.items():
        owned = name.startswith(OWNED)  # whoever owns it may change all but the number of clients
        if owned and array.shape[:1] != clients:
            continue
        axes = slice(1) if owned else slice(None)
        if name not in found or found[name].shape[axes] != array.shape[axes]:
            shape = found[name].shape if name in found else "none"
            raise StateError(f"Its '{name}' has the shape {shape}, and the run's is {array.shape}.")
    if state.learning is not None and not _is_of_one_model(state.learning, len(state.delivered)):
        raise StateError("Its trainings are of other models or clients than the run's.")


def _is_of_one_model(learning: LearningState, clients: int) -> bool:
    """Returns whether what clients hold has the shapes of the global model, and belongs to clients that there are."""
    starts = learning.starts
    own = [*(trained.client for trained in learning.held), *starts.epochs, *learning.local, *learning.statistics]
    models = [*(trained.weights for trained in learning.held), *starts.models.values(), *learning.local.values()]
    moments = [trained.moment for trained in learning.held]
    return (
        all(isinstance(client, int) and 0 <= client < clients for client in own)
        and all(model.shape == learning.weights.shape for model in models)
        and all(moment.shape == learning.moments.shape[1:] for moment in moments)
        and all(epoch in starts.models for epoch in starts.epochs.values())
        and (learning.features is None or learning.features.shape == learning.moments.shape)
        and (learning.probe_losses is None or learning.probe_losses.shape == (clients,))
    )
