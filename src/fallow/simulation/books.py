"""The energy books: what was harvested is what was consumed, stored, turned away or lost, to the unit."""

import numpy as np
from numpy.typing import NDArray

from fallow.energy import Physics
from fallow.errors import PhysicsError
from fallow.simulation.world_state import WorldState

BOOKS = {
    "harvested": "harvested",
    "overflow": "overflow",
    "consumed_idle": "idle_drain",
    "conversion_loss": "conversion_loss",
    "leakage": "leakage",
    "asleep": "asleep_slots",
}
"""The counters that are sums of arrays of the state, with the array of each."""


def read_books(state: WorldState) -> dict[str, int]:
    """Returns the sums over all clients since the beginning, by the names of `Counters`.

    Args:
        state: All batteries and books.
    """
    arrays = vars(state)
    return {counter: int(arrays[book].sum(dtype=np.int64)) for counter, book in BOOKS.items()}


def consumed(physics: Physics, state: WorldState) -> dict[str, NDArray[np.int64]]:
    """Returns what each client used since the beginning, by the names of `Counters`, each of shape (N,), int64.

    Args:
        physics: The costs.
        state: All batteries and books.
    """
    sends = state.sends if physics.long_uploads else state.uploads
    actions = (
        ("consumed_train", state.starts, physics.train_cost, not physics.ideal),
        ("consumed_tx", sends, physics.transmit_cost, not physics.ideal),
        ("consumed_probe", state.probes, physics.probe_cost, physics.pays_probes),
        ("consumed_listen", state.listens, physics.listen_cost, physics.listens),
        ("consumed_download", state.downloads, physics.download_cost, physics.downloads),
    )
    used = {name: np.multiply(count, cost, dtype=np.int64) for name, count, cost, paid in actions if paid}
    return used | ({"consumed_idle": state.idle_drain} if physics.idles else {})


def balance_books(physics: Physics, state: WorldState) -> None:
    """Checks every client's books.

    That is harvested = consumed + change of stored + overflow + conversion loss + leakage, and 0 ≤ stored ≤ E_max.

    Args:
        physics: Capacities, costs and first levels.
        state: All batteries and books.

    Raises:
        PhysicsError: The books of a client do not balance.
    """
    stored = physics.initial + state.harvested
    stored -= state.overflow
    for units in consumed(physics, state).values():
        stored -= units
    if physics.extended:
        stored -= state.conversion_loss
        stored -= state.leakage
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
