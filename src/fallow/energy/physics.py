"""What a device can store and what its actions cost: the numbers that do not change during a run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.arrays import per_client


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
        battery, cost = table["battery"], table["cost"]

        def over_clients(name: str, value: Any) -> NDArray[np.int32]:
            return per_client(name, value, table["clients"], np.int32)

        return cls(
            slots_per_epoch=table["slots_per_epoch"],
            capacity=over_clients("battery.capacity", battery["capacity"]),
            initial=over_clients("battery.initial", battery["initial"]),
            train_cost=over_clients("cost.train", cost["train"]),
            transmit_cost=cost["transmit"],
            probe_cost=cost["probe"] if probes else 0,
            starts_per_epoch=table["starts_per_epoch"],
            ideal=ideal,
        )
