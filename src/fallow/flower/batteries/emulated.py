"""Emulated: the simulator's own battery in accelerated time, a world of one client."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fallow.arrays import per_client
from fallow.energy import EnergyModel, Harvest, Physics, Units
from fallow.energy.devices.classes import over_clients
from fallow.energy.groups import group_seed
from fallow.energy.harvest import settled
from fallow.experiment import Experiment
from fallow.experiment.harvests import energy_of
from fallow.flower.batteries.harvests import SharedHarvest
from fallow.flower.batteries.open_emulated import EmulatedState, OpenEmulated
from fallow.simulation.forecast import Forecast
from fallow.simulation.world_state import WorldState


@dataclass(frozen=True)
class Emulated:
    """The simulator's own battery, in accelerated time: an epoch passes when the server says so.

    Attributes:
        energy: The energy model.
        number: Which of its clients this is.
        clients: N, for the model.
        seed: Of the harvest.
        slots_per_epoch: S.
        capacity: E_max, in units.
        initial: Units stored at the beginning.
        train_cost: κ, the units that a training costs, and the slots that it takes.
        transmit_cost: Units that an upload costs.
        probe_cost: Units that a probe costs.
        starts_per_epoch: Most trainings started in an epoch; 0 is no limit.
        device: A physics of one client with what the numbers above do not say: losses, sleep, listening, downloads and
            the slots of actions. None: the paper's, which has none of it. `capacity` is what is above the cut-off.
        shared: The harvest of all clients, if other batteries in this process live on it too.
    """

    energy: EnergyModel
    number: int = 0
    clients: int = 1
    seed: int = 0
    slots_per_epoch: int = 30
    capacity: int = 25
    initial: int = 0
    train_cost: int = 20
    transmit_cost: int = 1
    probe_cost: int = 0
    starts_per_epoch: int = 0
    device: Physics | None = None
    shared: SharedHarvest | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(
        cls, experiment: Experiment, number: int, harvests: dict[int | None, SharedHarvest] | None = None
    ) -> "Emulated":
        """Returns the battery that a client has in an experiment.

        Args:
            experiment: With the energy model, the costs and the seed.
            number: Of the client, from 0.
            harvests: What its batteries in this process share, by device class; a harvest that is missing is added.
        """
        physics = experiment.build_physics(experiment.build("policy"))
        members, place = experiment.device_classes, None
        clients, first, seed = experiment.clients, 0, experiment.seed
        if members is not None and experiment.device[members[number]].energy is not None:
            place = int(members[number])
            clients, first = int((members == place).sum()), int(np.argmax(members == place))
            seed = group_seed(experiment.seed, place)
        energy = energy_of(experiment, place)
        model = settled(
            energy.parts["model"],
            scale=experiment.scale,
            correlation=energy.correlation,
            mean=energy.mean,
            weather=experiment.seed,
        )
        if harvests is not None and place not in harvests:
            harvests[place] = SharedHarvest(model, seed, clients, experiment.slots_per_epoch)
        return cls(
            energy=model,
            number=number - first,
            clients=clients,
            seed=seed,
            slots_per_epoch=experiment.slots_per_epoch,
            capacity=int(physics.capacity[number] - physics.cutoff[number]),
            initial=int(physics.initial[number]),
            train_cost=int(physics.train_cost[number]),
            transmit_cost=int(physics.transmit_cost[number]),
            probe_cost=_probe_cost(experiment, number),
            starts_per_epoch=experiment.starts_per_epoch,
            device=None if physics.as_in_the_paper else physics.of_client(number),
            shared=harvests[place] if harvests is not None else None,
        )

    def open(self, state: EmulatedState | None = None, *, probes: bool, ideal: bool) -> OpenEmulated:
        """Returns the battery in use: a world of one client. The arguments are those of `Battery.open`."""

        def one(value: int) -> NDArray[np.int32]:
            return np.array([value], dtype=np.int32)

        physics = Physics(
            slots_per_epoch=self.slots_per_epoch,
            capacity=one(self.capacity),
            initial=one(self.initial),
            train_cost=one(self.train_cost),
            transmit_cost=one(self.transmit_cost),
            probe_cost=one(self.probe_cost if probes else 0),
            starts_per_epoch=self.starts_per_epoch,
            probes=probes,
            ideal=ideal,
        )
        if self.device is not None:
            physics = physics.with_device(self.device)
        return OpenEmulated(self, physics, state or EmulatedState(WorldState.first(physics)))

    @cached_property
    def harvest(self) -> Harvest:
        """The harvest of this client alone: rows of shape (1,)."""

        def own(epoch: int) -> Iterable[Units]:
            rows = self._everyone(epoch)
            if isinstance(rows, np.ndarray):
                return rows[:, self.number : self.number + 1]
            return (units[self.number : self.number + 1] for units in rows)

        return own

    @cached_property
    def _everyone(self) -> Harvest:
        return self.shared or self.energy.prepare(self.seed, self.clients, self.slots_per_epoch)

    def forecast(self, epoch: int, epochs: int, error: float, passed: int = 1) -> NDArray[np.float64]:
        """Returns the simulator's forecast for this client, shape (H,), float64.

        Args:
            epoch: t.
            epochs: H, for how many epochs, this one included.
            error: Its relative error.
            passed: How many slots of the epoch have passed.
        """
        if self.shared is not None:
            everyone = self.shared.forecast(epoch, epochs, error, passed)
        else:
            forecast = Forecast(self._everyone, self.seed, self.clients, self.slots_per_epoch, epochs, error)
            everyone = forecast.at(epoch, passed)
        own: NDArray[np.float64] = everyone[self.number].copy()
        return own


def _probe_cost(experiment: Experiment, number: int) -> int:
    """Returns the units of a client's probe, also where the policy makes none."""
    cost = over_clients(experiment.table())["cost"]["probe"]
    return int(per_client("cost.probe", cost, experiment.clients, np.int32)[number])
