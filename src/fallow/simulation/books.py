"""The energy books: what was harvested is what was consumed, stored or turned away, to the unit."""

import numpy as np
from numpy.typing import NDArray

from fallow.energy import Physics
from fallow.errors import PhysicsError
from fallow.simulation.world_state import WorldState


def balance_books(physics: Physics, state: WorldState) -> None:
    """Checks for every client that harvested = consumed + change of stored + overflow, and 0 ≤ stored ≤ E_max.

    Args:
        physics: Capacities, costs and first levels.
        state: All batteries and books.

    Raises:
        PhysicsError: The books of a client do not balance.
    """
    stored = physics.initial + state.harvested
    stored -= state.overflow
    if not physics.ideal:
        stored -= np.multiply(state.starts, physics.train_cost, dtype=np.int64)
        stored -= np.multiply(state.uploads, physics.transmit_cost, dtype=np.int64)
    if state.probes.size == physics.clients:
        stored -= np.multiply(state.probes, physics.probe_cost, dtype=np.int64)
    wrong = ((stored != state.battery) | (stored < 0) | (stored > physics.capacity)).nonzero()[0]
    if wrong.size:
        client = int(wrong[0])
        raise PhysicsError(
            f"The energy books of {wrong.size} clients do not balance: client {client} should store "
            f"{stored[client]} units and stores {state.battery[client]}. This is a bug in Fallow; please report it."
        )


def sum_slots(units: NDArray[np.int32]) -> NDArray[np.signedinteger]:
    """Returns the sum over some slots for each client, shape (N,), int32 for one slot and int64 for several.

    Args:
        units: Shape (slots, N), int32; at least one slot.
    """
    row: NDArray[np.signedinteger] = units[0] if len(units) == 1 else units.sum(axis=0, dtype=np.int64)
    return row


def consumed_units(physics: Physics, state: WorldState) -> NDArray[np.int64]:
    """Returns the units that each client has spent on anything, shape (N,), int64; the books must balance.

    Args:
        physics: First levels.
        state: All batteries and books.
    """
    return np.asarray(physics.initial + state.harvested - state.overflow - state.battery, dtype=np.int64)
