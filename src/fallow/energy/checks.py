"""What is certain to go wrong with batteries and costs, said before a run begins."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fallow.arrays import per_client
from fallow.energy.physics import Physics
from fallow.errors import ConfigError

Whole = NDArray[np.int32]


def check_batteries(physics: Physics, probe_cost: ArrayLike) -> None:
    """Raises `ConfigError` for a battery that can't hold what it begins with or what an action costs.

    Args:
        physics: The physics of a run.
        probe_cost: Units of a probe, one number or one for each client, also where the policy makes none.

    Raises:
        ConfigError: A device could never do something, or never wake up.

    Examples:
        >>> one = np.array([25])
        >>> check_batteries(Physics(30, one, 0 * one, np.array([20]), np.array([1])), 0)
    """
    _check_all(physics, "battery.initial", physics.initial, physics.capacity, "begin with what it holds")
    if physics.ideal:
        return
    low = np.flatnonzero(physics.wake < physics.cutoff)
    if low.size:
        client = low[0]
        raise ConfigError(
            f"battery.wake = {physics.wake[client]} of client {client} is below battery.cutoff = "
            f"{physics.cutoff[client]}, so it would fall asleep as it wakes; raise battery.wake, or set it to 0, which "
            "is the cut-off."
        )
    # After the idle drain of a slot no more than this can be there.
    most = (physics.capacity - np.floor(physics.idle)).astype(np.int64)
    _check_all(physics, "battery.wake", physics.wake, most, "wake up again once it sleeps")
    spendable = most - physics.cutoff
    for name, units, consequence in _costs(physics, probe_cost):
        _check_all(physics, name, units, spendable, consequence)


def _costs(physics: Physics, probe_cost: ArrayLike) -> Iterator[tuple[str, Whole, str]]:
    """Yields what actions cost, by setting, and what can't be done by a client that can't pay for it."""
    yield "cost.train", physics.train_cost, "ever train"
    yield "cost.transmit", physics.transmit_cost, "ever send an update"
    yield "cost.probe", per_client("cost.probe", probe_cost, physics.clients, np.int32), "ever make a probe"
    yield "cost.listen", physics.listen_cost, "ever hear the server"
    yield "cost.download", physics.download_cost, "ever receive a model"
    if physics.download_cost.any() and physics.probes:
        yield "cost.probe + cost.download", physics.probe_cost + physics.download_cost, "ever make a probe"
    elif physics.download_cost.any():
        yield "cost.train + cost.download", physics.train_cost + physics.download_cost, "ever train"


def _check_all(physics: Physics, name: str, units: Whole, most: NDArray[np.integer], consequence: str) -> None:
    """Raises `ConfigError` if a client needs more units than it can have."""
    over = np.flatnonzero(units > most)
    if not over.size:
        return
    client = int(over[0])
    capacity, room = int(physics.capacity[client]), int(most[client])
    limit = f"battery.capacity = {capacity}"
    if room < capacity:
        drains = [
            f"{name} = {value:g}"
            for name, value in (("battery.cutoff", physics.cutoff[client]), ("battery.idle", physics.idle[client]))
            if value
        ]
        limit = f"the {max(room, 0)} units that battery.capacity = {capacity} leaves with {' and '.join(drains)}"
    who = "nobody can" if over.size == physics.clients else f"client {client} can't"
    raise ConfigError(
        f"{name} = {units[client]} is above {limit}, so {who} {consequence}; raise the capacity or lower {name}."
    )


def check_reserve(physics: Physics) -> None:
    """Raises `ConfigError` where a client could never start with the energy to send, in time to arrive in the epoch.

    Args:
        physics: The physics of a run.
    """
    slots = physics.train_slots + physics.transmit_slots
    late = np.flatnonzero(slots > physics.slots_per_epoch)
    if late.size:
        client = late[0]
        train = f"cost.train{'' if physics.train_slots[client] == physics.train_cost[client] else '_slots'}"
        train, long = f"{train} = {physics.train_slots[client]}", physics.transmit_slots[client]
        why = f"{train} of client {client} leaves none of {physics.slots_per_epoch} to send in"
        if long > 1:
            why = (
                f"{train} and cost.transmit_slots = {long} of client {client} do not fit in "
                f"{physics.slots_per_epoch} slots"
            )
        raise ConfigError(
            f"With the reserve an update arrives in the epoch of its training, and {why}; raise slots_per_epoch, or "
            "choose a policy without reserve."
        )
    download = 0 if physics.probes else physics.download_cost
    both = physics.train_cost + physics.transmit_cost + download
    short = np.flatnonzero(both > physics.capacity - physics.cutoff)
    if short.size:
        client = short[0]
        cutoff = f" less battery.cutoff = {physics.cutoff[client]}" if physics.cutoff[client] else ""
        raise ConfigError(
            f"With the reserve a client starts with the energy to train and to send, {both[client]} units, and "
            f"battery.capacity = {physics.capacity[client]}{cutoff} of client {client} is less; raise it, or choose a "
            "policy without reserve."
        )
