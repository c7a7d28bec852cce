"""The energy books: what was harvested is what was consumed, stored, turned away or lost, to the unit."""

import numpy as np
from numpy.typing import NDArray

from fallow.energy import Physics
from fallow.errors import PhysicsError
from fallow.simulation.world_state import WorldState

EVERYONE = slice(None)

BLOCK = 2**15
"""Clients whose books are balanced at once, in the processor's cache."""

PAPER_BOOKS = {"harvested": "harvested", "overflow": "overflow"}
BOOKS = {
    **PAPER_BOOKS,
    "consumed_idle": "idle_drain",
    "conversion_loss": "conversion_loss",
    "leakage": "leakage",
    "asleep": "asleep_slots",
}
"""The counters that are sums of arrays of the state, with the array of each."""


def read_books(physics: Physics, state: WorldState) -> dict[str, int]:
    """Returns the sums over all clients since the beginning, by the names of `Counters`.

    Args:
        physics: Says which books there are.
        state: All batteries and books.
    """
    arrays = vars(state)
    kept = BOOKS if physics.extended else PAPER_BOOKS
    return {counter: int(arrays[book].sum(dtype=np.int64)) for counter, book in kept.items()}


def consumed(physics: Physics, state: WorldState, at: slice = EVERYONE) -> dict[str, NDArray[np.int64]]:
    """Returns what each client used since the beginning, by the names of `Counters`, each of shape (n,), int64.

    Args:
        physics: The costs.
        state: All batteries and books.
        at: Of which clients.
    """
    used: dict[str, NDArray[np.int64]] = {}
    if not physics.ideal:
        used["consumed_train"] = _times(state.starts[at], physics.train_cost[at])
        sends = state.sends if physics.long_uploads else state.uploads
        used["consumed_tx"] = _times(sends[at], physics.transmit_cost[at])
    if physics.pays_probes:
        used["consumed_probe"] = _times(state.probes[at], physics.probe_cost[at])
    if physics.listens:
        used["consumed_listen"] = _times(state.listens[at], physics.listen_cost[at])
    if physics.downloads:
        used["consumed_download"] = _times(state.downloads[at], physics.download_cost[at])
    if physics.idles:
        used["consumed_idle"] = state.idle_drain[at]
    return used


def _times(count: NDArray[np.int32], cost: NDArray[np.int32]) -> NDArray[np.int64]:
    """Returns a product; widened first, because NumPy is far slower with numbers of two types."""
    units = count.astype(np.int64)
    units *= cost.astype(np.int64) if cost.strides[0] else int(cost[0])
    return units


def balance_books(physics: Physics, state: WorldState) -> None:
    """Checks every client's books.

    That is harvested = consumed + change of stored + overflow + conversion loss + leakage, and 0 ≤ stored ≤ E_max.

    Args:
        physics: Capacities, costs and first levels.
        state: All batteries and books.

    Raises:
        PhysicsError: The books of a client do not balance.
    """
    clients = physics.clients
    blocks = [slice(first, min(first + BLOCK, clients)) for first in range(0, clients, BLOCK)]
    wrong = 0
    for at in blocks:
        wrong += _count_wrong(physics, state, at)
    if wrong:
        at = next(at for at in blocks if _count_wrong(physics, state, at))
        stored = _should_store(physics, state, at)
        first = int(_is_wrong(physics, state, stored, at).nonzero()[0][0])
        client = at.start + first
        raise PhysicsError(
            f"The energy books of {wrong} clients do not balance: client {client} should store {stored[first]} units "
            f"and stores {state.battery[client]}. This is a bug in Fallow; please report it."
        )


def _should_store(physics: Physics, state: WorldState, at: slice) -> NDArray[np.int64]:
    """Returns what some clients should store by their books, shape (n,), int64."""
    stored = physics.initial[at] + state.harvested[at]
    stored -= state.overflow[at]
    for units in consumed(physics, state, at).values():
        stored -= units
    if physics.converts:
        stored -= state.conversion_loss[at]
    if physics.leaks:
        stored -= state.leakage[at]
    return stored


def _is_wrong(physics: Physics, state: WorldState, stored: NDArray[np.int64], at: slice) -> NDArray[np.bool_]:
    """Returns which of some clients store something else, or what no battery can, shape (n,), bool."""
    return np.asarray((stored != state.battery[at]) | (stored < 0) | (stored > physics.capacity[at]))


def _count_wrong(physics: Physics, state: WorldState, at: slice) -> int:
    """Returns how many of some clients have wrong books."""
    return int(np.count_nonzero(_is_wrong(physics, state, _should_store(physics, state, at), at)))


def sum_slots(units: NDArray[np.int32]) -> NDArray[np.signedinteger]:
    """Returns the sum over some slots for each client, shape (N,), int32 for one slot and int64 for several.

    Args:
        units: Shape (slots, N), int32; at least one slot.
    """
    row: NDArray[np.signedinteger] = units[0] if len(units) == 1 else units.sum(axis=0, dtype=np.int64)
    return row
