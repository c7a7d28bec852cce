"""What a device can store and what its actions cost: the numbers that do not change during a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from fallow.arrays import per_client
from fallow.energy.devices.classes import over_clients

Whole = NDArray[np.int32]
Real = NDArray[np.float64]

DAY_SECONDS = 86_400


def _zero() -> Whole:
    return np.zeros((), dtype=np.int32)


def _one() -> Whole:
    return np.ones((), dtype=np.int32)


def _nothing() -> Real:
    return np.zeros(())


def _all() -> Real:
    return np.ones(())


@dataclass(frozen=True)
class Physics:
    """What does not change during a run. An array over clients may be given as one number, which is then repeated.

    Attributes:
        slots_per_epoch: S, the slots of an epoch.
        capacity: E_max, the units that each battery can store, shape (N,), int32.
        initial: E_i(0), the units in each battery before the first slot, shape (N,), int32.
        train_cost: κ_i, the units of a training, shape (N,), int32.
        transmit_cost: The units of an upload, shape (N,), int32.
        probe_cost: The units of a probe, shape (N,), int32; 0 where it is free or the policy makes none (reading 11).
        starts_per_epoch: Most trainings that a client may start in an epoch; 0 is no limit (reading 4).
        ideal: Whether time and energy are ignored: everyone trains in every epoch (the policy `unlimited`).
        train_slots: The slots of a training, shape (N,), int32; given as 0: as many as units, as in the paper.
        transmit_slots: The slots of an upload, shape (N,), int32.
        listen_cost: The units of hearing the server in an epoch's first slot, shape (N,), int32.
        download_cost: The units of receiving a model, shape (N,), int32.
        efficiency: The share of the harvest that reaches the battery, shape (N,), float64.
        self_discharge: The share of what is stored that leaks away in a slot, shape (N,), float64.
        idle: The units a slot that a device draws while it is awake, shape (N,), float64.
        cutoff: The level below which a device falls asleep, shape (N,), int32.
        wake: The level at which it wakes up, shape (N,), int32; given as 0: the cut-off.
        probes: Whether the policy makes probes, whatever they cost.
    """

    slots_per_epoch: int
    capacity: Whole
    initial: Whole
    train_cost: Whole
    transmit_cost: Whole
    probe_cost: Whole = field(default_factory=_zero)
    starts_per_epoch: int = 0
    ideal: bool = False
    train_slots: Whole = field(default_factory=_zero)
    transmit_slots: Whole = field(default_factory=_one)
    listen_cost: Whole = field(default_factory=_zero)
    download_cost: Whole = field(default_factory=_zero)
    efficiency: Real = field(default_factory=_all)
    self_discharge: Real = field(default_factory=_nothing)
    idle: Real = field(default_factory=_nothing)
    cutoff: Whole = field(default_factory=_zero)
    wake: Whole = field(default_factory=_zero)
    probes: bool = False

    def __post_init__(self) -> None:
        """Makes an array over clients of every number, and fills in what 0 stands for."""
        clients, given = self.capacity.size, vars(self)
        for names, dtype in ((WHOLE, np.int32), (REAL, np.float64)):
            for name in names:
                object.__setattr__(self, name, per_client(name, given[name], clients, dtype))
        object.__setattr__(self, "train_slots", _where_zero(self.train_slots, self.train_cost))
        object.__setattr__(self, "wake", _where_zero(self.wake, self.cutoff))

    @property
    def clients(self) -> int:
        """N, the number of clients."""
        return self.capacity.size

    @cached_property
    def pays_probes(self) -> bool:
        """Whether a probe costs a client anything."""
        return bool(self.probe_cost.any())

    @cached_property
    def long_uploads(self) -> bool:
        """Whether an upload of a client takes more than a slot."""
        return bool((self.transmit_slots > 1).any())

    @cached_property
    def listens(self) -> bool:
        """Whether hearing the server costs a client anything."""
        return bool(self.listen_cost.any())

    @cached_property
    def downloads(self) -> bool:
        """Whether receiving a model costs a client anything."""
        return bool(self.download_cost.any())

    @cached_property
    def converts(self) -> bool:
        """Whether some of a client's harvest does not reach its battery."""
        return bool((self.efficiency < 1).any())

    @cached_property
    def leaks(self) -> bool:
        """Whether a battery discharges itself."""
        return bool(self.self_discharge.any())

    @cached_property
    def idles(self) -> bool:
        """Whether a device draws energy while it does nothing."""
        return bool(self.idle.any())

    @cached_property
    def sleeps(self) -> bool:
        """Whether a device can fall asleep."""
        return bool(self.cutoff.any())

    @cached_property
    def extended(self) -> bool:
        """Whether energy goes where the paper has none go: listening, downloads, idle drain, losses, and sleep."""
        return self.listens or self.downloads or self.converts or self.leaks or self.idles or self.sleeps

    @property
    def as_in_the_paper(self) -> bool:
        """Whether energy goes only where the paper has it go, a training has a slot a unit, and an upload one slot."""
        in_time = (self.train_slots == self.train_cost).all() and (self.transmit_slots == 1).all()
        return bool(in_time) and not self.extended

    def of_client(self, client: int) -> "Physics":
        """Returns the physics of one client: a world of its own.

        Args:
            client: Its number, from 0.

        Examples:
            >>> physics = Physics(30, np.array([25, 50]), np.array([0, 0]), np.array([20, 40]), np.array(1))
            >>> physics.of_client(1).capacity
            array([50], dtype=int32)
        """
        arrays = {name: vars(self)[name][client : client + 1].copy() for name in (*WHOLE, *REAL)}
        return replace(self, **arrays)

    def with_device(self, device: "Physics") -> "Physics":
        """Returns this physics with what a device has beyond the paper's: losses, sleep, costs and slots of its own.

        Args:
            device: The physics of a device, over as many clients. Its cut-off comes on top of the capacity.
        """
        names = ("train_slots", "transmit_slots", "listen_cost", "download_cost", "cutoff", "wake", *REAL)
        arrays = {name: vars(device)[name] for name in names}
        return replace(self, capacity=self.capacity + device.cutoff, **arrays)

    @classmethod
    def of_settings(cls, table: Mapping[str, Any], *, probes: bool, ideal: bool) -> "Physics":
        """Returns the physics that the settings of an experiment describe.

        Args:
            table: Settings by section, as in ``{"clients": 100, "battery": {"capacity": 25, …}, "cost": {…}, …}``.
                What a run of an earlier version does not state has its default.
            probes: Whether the policy makes probes, so that clients pay for them.
            ideal: Whether time and energy are ignored.

        Raises:
            ConfigError: A list has not one number for each client.

        Examples:
            >>> from fallow.experiment import Experiment
            >>> physics = Physics.of_settings(Experiment(clients=3, policy="fedavg").table(), probes=True, ideal=False)
            >>> physics.clients, physics.transmit_cost
            (3, array([1, 1, 1], dtype=int32))
        """
        table = over_clients(table)
        given: dict[str, Any] = {}
        for section, names in SETTINGS.items():
            for setting, name in names.items():
                if setting in table[section]:
                    dtype = np.int32 if name in WHOLE else np.float64
                    value = table[section][setting]
                    given[name] = per_client(f"{section}.{setting}", value, table["clients"], dtype)
        if "self_discharge" in given:
            given["self_discharge"] = share_a_slot(given["self_discharge"], table.get("slot_seconds", 0.0))
        if not probes:
            given["probe_cost"] = _zero()
        return cls(
            slots_per_epoch=table["slots_per_epoch"],
            starts_per_epoch=table["starts_per_epoch"],
            ideal=ideal,
            probes=probes,
            **given,
        )


SETTINGS: Final = {
    "battery": {
        name: name for name in ("capacity", "initial", "efficiency", "self_discharge", "idle", "cutoff", "wake")
    },
    "cost": {
        "train": "train_cost",
        "train_slots": "train_slots",
        "transmit": "transmit_cost",
        "transmit_slots": "transmit_slots",
        "probe": "probe_cost",
        "listen": "listen_cost",
        "download": "download_cost",
    },
}
"""The settings that are arrays over clients, by section, with the attribute that each becomes."""

REAL: Final = ("efficiency", "self_discharge", "idle")
WHOLE: Final = tuple(name for names in SETTINGS.values() for name in names.values() if name not in REAL)


def share_a_slot(share: Real, slot_seconds: float) -> Real:
    """Returns the share of what is stored that leaks away in a slot, shape (N,), float64.

    Args:
        share: What leaks away in a day if the length of a slot is stated, else in a slot, shape (N,), float64.
        slot_seconds: The length of a slot; 0 is not stated.

    Examples:
        >>> share_a_slot(np.array([0.19]), slot_seconds=43_200.0)
        array([0.1])
    """
    if not slot_seconds or not share.any():
        return share
    one = share[:1] if share.strides == (0,) else share  # one number stays one number
    a_slot = -np.expm1(np.log1p(-one) * (slot_seconds / DAY_SECONDS))
    return np.broadcast_to(a_slot, share.shape)


def _where_zero(given: Whole, otherwise: Whole) -> Whole:
    """Returns the numbers given, and another where they are 0."""
    if not given.any():
        return otherwise
    return given if given.all() else np.where(given == 0, otherwise, given)
