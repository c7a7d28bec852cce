"""What a device can store and what its actions cost: the numbers that do not change during a run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.arrays import per_client
from fallow.energy.devices.classes import over_clients
from fallow.errors import ConfigError


@dataclass(frozen=True)
class Physics:
    """What does not change during a run.

    Attributes:
        slots_per_epoch: S, the slots of an epoch.
        capacity: E_max, the units that each battery can store, shape (N,), int32.
        initial: E_i(0), the units in each battery before the first slot, shape (N,), int32.
        train_cost: κ_i, the units and the slots of a training, shape (N,), int32.
        transmit_cost: The units of an upload.
        probe_cost: The units of a probe; 0 where it is free or the policy makes none (reading 11).
        starts_per_epoch: Most trainings that a client may start in an epoch; 0 is no limit (reading 4).
        ideal: Whether time and energy are ignored: everyone trains in every epoch (the policy `unlimited`).
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
        """N, the number of clients."""
        return self.capacity.size

    @classmethod
    def of_settings(cls, table: Mapping[str, Any], *, probes: bool, ideal: bool) -> "Physics":
        """Returns the physics that the settings of an experiment describe.

        Args:
            table: Settings by section, as in ``{"clients": 100, "battery": {"capacity": 25, …}, "cost": {…}, …}``.
            probes: Whether the policy makes probes, so that clients pay for them.
            ideal: Whether time and energy are ignored.

        Raises:
            ConfigError: A list has not one number for each client.

        Examples:
            >>> from fallow.experiment import Experiment
            >>> physics = Physics.of_settings(Experiment(clients=20).table(), probes=True, ideal=False)
            >>> physics.clients, physics.transmit_cost
            (20, 1)
        """
        table = over_clients(table)
        battery, cost = table["battery"], table["cost"]

        def as_array(name: str, value: Any) -> NDArray[np.int32]:
            return per_client(name, value, table["clients"], np.int32)

        return cls(
            slots_per_epoch=table["slots_per_epoch"],
            capacity=as_array("battery.capacity", battery["capacity"]),
            initial=as_array("battery.initial", battery["initial"]),
            train_cost=as_array("cost.train", cost["train"]),
            transmit_cost=cost["transmit"],
            probe_cost=cost["probe"] if probes else 0,
            starts_per_epoch=table["starts_per_epoch"],
            ideal=ideal,
        )


def check_batteries(physics: Physics, transmit_cost: int, probe_cost: int) -> None:
    """Raises `ConfigError` for a battery that can't hold what it begins with or what an action costs.

    Args:
        physics: The physics of a run.
        transmit_cost: Units of an upload.
        probe_cost: Units of a probe, also where the policy makes none.
    """
    clients = physics.clients
    initial = ("battery.initial", physics.initial, "begin with what it holds")
    costs = (
        ("cost.train", physics.train_cost, "ever train"),
        ("cost.transmit", np.broadcast_to(transmit_cost, clients), "ever send an update"),
        ("cost.probe", np.broadcast_to(probe_cost, clients), "ever make a probe"),
    )
    for name, units, consequence in (initial, *(() if physics.ideal else costs)):
        over = np.flatnonzero(units > physics.capacity)
        if over.size:
            who = "nobody can" if over.size == clients else f"client {over[0]} can't"
            raise ConfigError(
                f"{name} = {units[over[0]]} is above battery.capacity = {physics.capacity[over[0]]}, so {who} "
                f"{consequence}; raise the capacity or lower {name}."
            )


def check_reserve(physics: Physics) -> None:
    """Raises `ConfigError` where no client could ever start with the energy to send, in time to arrive in the epoch.

    Args:
        physics: The physics of a run.
    """
    late = np.flatnonzero(physics.train_cost >= physics.slots_per_epoch)
    if late.size:
        raise ConfigError(
            "With the reserve an update arrives in the epoch of its training, and cost.train = "
            f"{physics.train_cost[late[0]]} of client {late[0]} leaves none of {physics.slots_per_epoch} to send in; "
            "raise slots_per_epoch, or choose a policy without reserve."
        )
    short = np.flatnonzero(physics.train_cost + physics.transmit_cost > physics.capacity)
    if short.size:
        raise ConfigError(
            f"With the reserve a client starts with the energy to train and to send, "
            f"{physics.train_cost[short[0]] + physics.transmit_cost} units, and battery.capacity = "
            f"{physics.capacity[short[0]]} of client {short[0]} is less; raise it, or choose a policy without reserve."
        )
