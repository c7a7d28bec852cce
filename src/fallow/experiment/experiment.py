"""The experiment: one run, described in full. A wrong setting raises an error of one sentence before anything runs."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError

from fallow.energy import EpochForecast, Harvest, Physics, Scale
from fallow.energy.devices.classes import assign_classes
from fallow.errors import ConfigError
from fallow.experiment.checks import check_together
from fallow.experiment.choices import build_choices
from fallow.experiment.devices import DeviceClass, device_table, listed
from fallow.experiment.given import changed_settings, section_table
from fallow.experiment.harvests import forecast_of, harvest_of
from fallow.experiment.resolution import resolve_devices
from fallow.experiment.sections import (
    MOST_CLIENTS,
    SECTIONS,
    Aggregation,
    Battery,
    Choosing,
    Cost,
    Data,
    Energy,
    Learning,
    Model,
    Objective,
    Output,
    PolicySection,
    Staleness,
)
from fallow.experiment.settings import override, put, read_settings
from fallow.learning.options import SGD, STRICT, Compute
from fallow.plugins.nested import plain, thawed
from fallow.plugins.validation import sentence
from fallow.plugins.values import check_values
from fallow.policies import AnyPolicy, Reserving, needs_of
from fallow.rng import MAX_SEED
from fallow.storage.reading import parse_toml


class Experiment(BaseModel):
    """One run, in full. The defaults are the paper's numbers.

    Where a section chooses by name, it takes a name, a table of a name and its options, a class, or an object.

    Raises:
        ConfigError: A setting is unknown or wrong, or the settings together can't be run.

    Examples:
        >>> from fallow.policies import VAoI
        >>> Experiment(clients=20, policy=VAoI(k=5)) == Experiment(clients=20, policy={"name": "vaoi", "k": 5})
        True
        >>> Experiment(clients=5)
        Traceback (most recent call last):
        ...
        fallow.errors.ConfigError: policy.k = 10 is more than clients = 5; set policy.k to at most 5.
    """

    model_config = STRICT
    seed: int = Field(0, ge=0, le=MAX_SEED, description="the same seed gives the same bytes")
    clients: int = Field(100, ge=1, le=MOST_CLIENTS, description="N")
    epochs: int = Field(500, ge=1, description="T: global rounds")
    slots_per_epoch: int = Field(30, ge=1, description="S")
    slot_seconds: float = Field(0.0, ge=0, description="seconds of a slot; 0 is not stated")
    unit_joules: float = Field(0.0, ge=0, description="joules of a unit, in which all energy is kept; 0 is not stated")
    starts_per_epoch: int = Field(
        0, ge=0, description="most trainings a client may start in an epoch; 0 is no limit (reading 4)"
    )
    energy: Energy = Energy()
    battery: Battery = Battery()
    cost: Cost = Cost()
    policy: PolicySection = PolicySection()
    data: Data = Data()
    model: Model = Model()
    learning: Learning = Learning()
    sgd: SGD = SGD()
    objective: Objective = Objective()
    aggregation: Aggregation = Aggregation()
    staleness: Staleness = Staleness()
    compute: Compute = Compute()
    output: Output = Output()
    device: tuple[DeviceClass, ...] = Field((), description="classes of devices: [[device]] in TOML")

    def __init__(self, **settings: Any) -> None:
        check_values(settings)
        devices = settings.pop("device", ())
        table = {key: plain(section_table(key, value)) for key, value in settings.items()}
        for section, cls in SECTIONS.items():
            given = table.get(section, {})
            if issubclass(cls, Choosing) and isinstance(given, Mapping):
                defaults = {name: field.default for name, field in cls.model_fields.items() if name != "parts"}
                table[section] = build_choices(section, given, defaults)
        try:
            super().__init__(**table)
        except ValidationError as error:
            raise ConfigError(sentence(error, model=type(self))) from None
        if listed(devices):  # they need the other settings, which are checked by now
            super().__init__(**table, device=resolve_devices(self, listed(devices)))
        check_together(self)

    @classmethod
    def parse(cls, table: Mapping[str, Any]) -> "Experiment":
        """Returns the experiment that a table of settings describes.

        Args:
            table: Settings by section, as TOML holds them.

        Raises:
            ConfigError: A setting is unknown or wrong.

        Examples:
            >>> Experiment.parse({"clients": 20, "energy": {"p": 0.2}}).energy.options
            {'p': 0.2}
        """
        return cls(**table)

    @classmethod
    def read(cls, path: Path | str | None, overrides: Iterable[str] = ()) -> "Experiment":
        """Returns the experiment in a TOML file, changed by overrides.

        Args:
            path: The file; None is an experiment with the defaults.
            overrides: Assignments, each ``key=value``, as in ``energy.p=0.01``.

        Raises:
            ConfigError: The file can't be read, or a setting is unknown or wrong.

        Examples:
            >>> Experiment.read(None, ["clients=20", "energy.p=0.2"])
            Experiment(clients=20, energy={'p': 0.2})
        """
        settings = read_settings(None if path is None else Path(path))
        if "grid" in settings:
            raise ConfigError(f"{path} describes a grid of runs; `fallow sweep {path}` carries them out.")
        for assignment in overrides:
            override(settings, assignment)
        return cls(**settings)

    @classmethod
    def from_toml(cls, text: str) -> "Experiment":
        """Returns the experiment in a TOML text, such as `to_toml` returns.

        Args:
            text: A config in TOML.

        Raises:
            ConfigError: A setting is unknown or wrong.

        Examples:
            >>> Experiment.from_toml(Experiment(seed=1).to_toml()) == Experiment(seed=1)
            True
        """
        return cls(**parse_toml(text, "The text", ConfigError))

    def to_toml(self) -> str:
        """Returns the resolved config as TOML: every setting, defaults included."""
        return tomli_w.dumps(thawed(self.table()))

    def table(self) -> dict[str, Any]:
        """Returns every setting by section, with the options of the chosen classes; a None is left out."""
        table = self.model_dump()
        for name, section in self:
            if isinstance(section, Choosing):
                table[name] |= {key: value for key, value in section.options.items() if value is not None}
        del table["device"]  # where there are none: TOML could not add [[device]] to an empty list
        return table | ({"device": [device_table(device) for device in self.device]} if self.device else {})

    @property
    def given(self) -> dict[str, Any]:
        """The settings that differ from the defaults, by section: ``Experiment(**experiment.given) == experiment``."""
        return changed_settings(self)

    def replace(self, **changes: Any) -> "Experiment":
        """Returns a copy of the experiment with some settings changed.

        Args:
            **changes: A whole section, as in ``policy=VAoI(k=5)``; a setting without a section, as in ``seed=1``; or
                one setting of a section, with two underscores, as in ``energy__p=0.1``.

        Raises:
            ConfigError: A setting is unknown or wrong.

        Examples:
            >>> Experiment(energy={"p": 0.1}).replace(energy__p=0.5, seed=1).given
            {'seed': 1, 'energy': {'p': 0.5}}
        """
        settings = self.given
        for key, value in changes.items():
            put(settings, key.replace("__", "."), value)
        return type(self)(**settings)

    def build(self, section: str, field: str = "name") -> Any:
        """Returns the object that a section chooses.

        Args:
            section: The name of the section.
            field: The setting of the section that names the object.

        Examples:
            >>> Experiment(policy={"name": "round-robin", "k": 5}).build("policy")
            RoundRobin(k=5)
            >>> Experiment().build("energy", "model")
            Bernoulli(p=0.1)
        """
        (choosing,) = (value for name, value in self if name == section)
        part = choosing.parts[field]
        return Reserving(part) if section == "policy" and self.policy.reserve else part

    def build_physics(self, policy: AnyPolicy) -> Physics:
        """Returns the physics of the run: batteries, costs and slots.

        Args:
            policy: The policy of the run; its needs decide whether clients pay for probes.

        Raises:
            ConfigError: A list has not one number for each client.
        """
        needs = needs_of(policy)
        return Physics.of_settings(self.table(), probes=needs.probes, ideal=needs.ideal)

    @property
    def device_classes(self) -> NDArray[np.intp] | None:
        """The class of each client, as its place in `device`, shape (N,), intp; None where there are no classes.

        Examples:
            >>> devices = [{"name": "small", "share": 1, "capacity": 20}, {"name": "large", "share": 2, "capacity": 99}]
            >>> Experiment(clients=6, policy={"k": 2}, device=devices).device_classes.tolist()
            [0, 0, 1, 1, 1, 1]
        """
        return assign_classes([one.share for one in self.device], self.clients) if self.device else None

    @property
    def scale(self) -> Scale:
        """The length of a slot and the energy of a unit, where they are stated."""
        return Scale(self.slot_seconds, self.unit_joules)

    def build_harvest(self) -> Harvest:
        """Returns the harvest of the run, after its energy model has read and checked what it needs.

        Raises:
            FallowError: The energy model can't be used as it is.
        """
        return harvest_of(self)

    def build_forecast(self) -> EpochForecast:
        """Returns what the energy model itself expects of the harvest.

        Raises:
            FallowError: The energy model has no forecast, or can't be used as it is.
        """
        return forecast_of(self)

    def __repr__(self) -> str:
        return f"Experiment({', '.join(f'{key}={value!r}' for key, value in self.given.items())})"

    __str__ = __repr__
