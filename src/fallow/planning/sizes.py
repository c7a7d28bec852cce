"""A node in whole units and slots: the unit that is small enough, what things cost, and the physics of candidates."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fallow.energy import Physics, Scale
from fallow.energy.base import MOST_UNITS
from fallow.energy.physics import share_a_slot
from fallow.errors import ConfigError
from fallow.planning.node import DAY_SECONDS, Node

FINE = 200
"""Units, at least, of the smallest cost, where the unit is ours to choose."""

ALMOST = 1e-9
"""How far a cost may be from a whole number of units, relative to it, and still be that number."""


@dataclass(frozen=True)
class Costs:
    """What a node pays, in whole units and slots.

    Attributes:
        scale: The length of a slot and the energy of a unit.
        train: Units of a training.
        train_slots: Slots of a training.
        upload: Units of an upload.
        upload_slots: Slots of an upload.
        listen: Units to hear the server, once a round.
        download: Units to receive the model, once a round.
        idle: Units a slot that the device draws while it is awake; a real number.
    """

    scale: Scale
    train: int
    train_slots: int
    upload: int
    upload_slots: int
    listen: int
    download: int
    idle: float

    @property
    def most_trainings_a_day(self) -> float:
        """Trainings that fit into a day, whatever the energy: each fills its slots, and those of its upload."""
        return DAY_SECONDS / self.scale.slot_seconds / (self.train_slots + self.upload_slots)


def choose_unit(node: Node, most_joules: float) -> float:
    """Returns the joules of a unit: as stated, or 1, 2 or 5 times a power of ten with 200 units in the smallest cost.

    Args:
        node: The description.
        most_joules: The largest battery that will be tried, which must still fit.

    Raises:
        ConfigError: The largest battery does not fit.

    Examples:
        >>> node = Node(device={"train_joules": 30.0, "capacity_joules": 100.0}, wish={"trainings_per_day": 1},
        ...     unit_joules=0.5)
        >>> choose_unit(node, most_joules=1000.0)
        0.5
    """
    device = node.device
    if node.unit_joules:
        if most_joules / node.unit_joules > MOST_UNITS:
            raise ConfigError(
                f"A battery of {most_joules:g} J has more than {MOST_UNITS} units of {node.unit_joules:g} J; raise "
                "unit_joules, or lower device.capacity_joules."
            )
        return node.unit_joules
    costs = (
        device.train_joules,
        device.transmit_joules,
        device.listen_joules,
        device.download_joules,
        device.idle_watts * node.slot_seconds,
    )
    fine = round_down(min(cost for cost in costs if cost > 0) / FINE)
    fits = round_down(most_joules / MOST_UNITS) * 10
    return max(fine, fits)


def round_down(value: float) -> float:
    """Returns the largest of 1, 2 and 5 times a power of ten that is not above a number.

    Examples:
        >>> round_down(0.15), round_down(0.0497), round_down(0.002)
        (0.1, 0.02, 0.002)
    """
    power = math.floor(math.log10(value))
    steps = [digit * 10.0**exponent for exponent in (power - 1, power, power + 1) for digit in (1, 2, 5)]
    return float(f"{max(step for step in steps if step <= value * (1 + ALMOST)):.0e}")


def count_costs(node: Node, unit_joules: float) -> Costs:
    """Returns what a node pays in whole units and slots; costs are rounded up.

    Args:
        node: The description.
        unit_joules: Of a unit.

    Raises:
        ConfigError: A cost has too many units.
    """
    device = node.device

    def units(name: str, joules: float) -> int:
        count = _ceil(joules / unit_joules)
        if count > MOST_UNITS:
            raise ConfigError(
                f"device.{name} = {joules:g} has more than {MOST_UNITS} units of {unit_joules:g} J; raise unit_joules."
            )
        return count

    return Costs(
        scale=Scale(node.slot_seconds, unit_joules),
        train=units("train_joules", device.train_joules),
        train_slots=max(1, _ceil(device.train_seconds / node.slot_seconds)),
        upload=units("transmit_joules", device.transmit_joules),
        upload_slots=max(1, _ceil(device.transmit_seconds / node.slot_seconds)),
        listen=units("listen_joules", device.listen_joules),
        download=units("download_joules", device.download_joules),
        idle=device.idle_watts * node.slot_seconds / unit_joules,
    )


def build_physics(node: Node, costs: Costs, batteries: NDArray[np.float64]) -> Physics:
    """Returns the physics of some devices, which differ in their batteries.

    Args:
        node: The description.
        costs: Of it.
        batteries: The capacity of each device in joules, shape (N,), float64; rounded down to whole units.
    """
    device, unit = node.device, costs.scale.unit_joules
    capacity = np.floor(batteries / unit * (1 + ALMOST)).astype(np.int32)

    def share(of_battery: float) -> NDArray[np.int32]:
        units: NDArray[np.int32] = np.ceil(capacity * of_battery * (1 - ALMOST)).astype(np.int32)
        return units

    discharge = share_a_slot(np.full(1, device.self_discharge), node.slot_seconds)
    return Physics(
        slots_per_epoch=node.slots_per_round,
        capacity=capacity,
        initial=np.minimum(share(device.initial), capacity),
        train_cost=np.array(costs.train, dtype=np.int32),
        transmit_cost=np.array(costs.upload, dtype=np.int32),
        starts_per_epoch=node.policy.starts_per_round,
        train_slots=np.array(costs.train_slots, dtype=np.int32),
        transmit_slots=np.array(costs.upload_slots, dtype=np.int32),
        listen_cost=np.array(costs.listen, dtype=np.int32),
        download_cost=np.array(costs.download, dtype=np.int32),
        efficiency=np.array(device.efficiency),
        self_discharge=np.array(discharge[0]),
        idle=np.array(costs.idle),
        cutoff=share(device.cutoff),
        wake=share(device.wake),
    )


def _ceil(count: float) -> int:
    return math.ceil(count * (1 - ALMOST))
