"""Settings that are valid one by one, and whether they can be run together."""

from typing import TYPE_CHECKING

from fallow.data.sizes import check_sizes, sizes_by_class
from fallow.energy import Physics, check_batteries, check_reserve
from fallow.energy.devices.classes import check_shares, over_clients
from fallow.errors import ConfigError
from fallow.memory import check_memory
from fallow.policies import Reserve, Reserving
from fallow.trackers import build_trackers

if TYPE_CHECKING:
    from fallow.experiment.devices import DeviceClass
    from fallow.experiment.experiment import Experiment

MOST_SLOTS = 2**31 - 1
"""Most slots of a run, because slots are counted in 32 bits."""


BYTES_A_CLIENT = 100
"""Least memory of a client: its battery, its counters and what it pays."""


def check_together(experiment: "Experiment") -> None:
    """Raises `ConfigError` for settings that are valid one by one but can't be run together.

    Args:
        experiment: With every setting checked by itself.
    """
    check_memory(BYTES_A_CLIENT * experiment.clients, f"clients = {experiment.clients}", "lower clients")
    build_trackers(experiment.output.trackers)
    policy = experiment.build("policy")
    if experiment.device:
        names, shares = [one.name for one in experiment.device], [one.share for one in experiment.device]
        check_shares(names, shares, experiment.clients)
    physics = experiment.build_physics(policy)
    if not physics.ideal:
        for device in experiment.device:
            _check_device(device, experiment)
    if isinstance(policy, Reserve | Reserving):
        check_reserve(physics)
    k = experiment.policy.options.get("k", 0)
    if isinstance(k, int) and k > experiment.clients:
        raise ConfigError(
            f"policy.k = {k} is more than clients = {experiment.clients}; set policy.k to at most {experiment.clients}."
        )
    _check_sizes(experiment)
    check_batteries(physics, over_clients(experiment.table())["cost"]["probe"])
    _check_length(experiment, physics)


def _check_sizes(experiment: "Experiment") -> None:
    sizes, data = sizes_by_class(experiment.table()), experiment.data
    wanted = 0 if any(one.samples for one in experiment.device) else data.samples_per_client
    check_sizes(sizes, experiment.clients, wanted, experiment.build("data", "partition"))


def _check_length(experiment: "Experiment", physics: Physics) -> None:
    # So far beyond the run's end may a training with its upload reach.
    longest = int(physics.train_slots.max()) + int(physics.transmit_slots.max())
    if experiment.epochs * experiment.slots_per_epoch + longest > MOST_SLOTS:
        raise ConfigError(
            f"epochs × slots_per_epoch = {experiment.epochs * experiment.slots_per_epoch} slots are too many; a run "
            f"has at most {MOST_SLOTS}."
        )


def _check_device(device: "DeviceClass", experiment: "Experiment") -> None:
    """Raises `ConfigError` for a class that can never train or send, in joules where a unit has them."""
    joules = experiment.unit_joules
    slots = experiment.slots_per_epoch
    if device.transmit_slots is not None and device.transmit_slots > slots:
        seconds = f" ({device.transmit_slots * experiment.slot_seconds:g} s)" if experiment.slot_seconds else ""
        raise ConfigError(
            f"The device class '{device.name}' uploads for {device.transmit_slots} slots{seconds}, and an epoch has "
            f"{slots}; raise slots_per_epoch or slot_seconds, send fewer bytes (update_bytes, or a smaller model), or "
            "choose a faster radio."
        )
    if not joules or device.train is None or device.capacity is None:
        return  # the check of all batteries says it in units
    room = device.capacity - (device.cutoff or 0)
    if device.train > room:
        raise ConfigError(
            f"The device class '{device.name}' can never train: a training takes {device.train * joules:g} J "
            f"({device.train} units), and its battery has room for {max(room, 0) * joules:g} J ({max(room, 0)} units); "
            "give it a larger battery (capacity_joules), or a smaller model or fewer samples."
        )
