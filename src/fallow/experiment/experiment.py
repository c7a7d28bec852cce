"""The experiment: one run, described in full. A wrong setting raises an error of one sentence before anything runs."""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import BaseModel, Field, ValidationError

from fallow.data.sizes import check_sizes
from fallow.energy import Harvest, Physics, Scale, check_batteries, check_reserve, prepare_harvest
from fallow.errors import ConfigError
from fallow.experiment.choices import build_choices
from fallow.experiment.given import section_table
from fallow.experiment.sections import (
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
from fallow.plugins.objects import changed_options
from fallow.plugins.validation import sentence
from fallow.policies import AnyPolicy, Reserve, Reserving, needs_of
from fallow.rng import MAX_SEED
from fallow.trackers import build_trackers

MOST_SLOTS = 2**31 - 1
"""Most slots of a run, because slots are counted in 32 bits."""

MOST_CLIENTS = 10**8
"""Most clients of a run. The batteries and counters of so many take ten gigabytes."""


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

    def __init__(self, **settings: Any) -> None:
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
        self._check()

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
        return cls(**tomllib.loads(text))

    def to_toml(self) -> str:
        """Returns the resolved config as TOML: every setting, defaults included."""
        return tomli_w.dumps(thawed(self.table()))

    def table(self) -> dict[str, Any]:
        """Returns every setting by section, with the options of the chosen classes; a None is left out."""
        table = self.model_dump()
        for name, section in self:
            if isinstance(section, Choosing):
                table[name] |= {key: value for key, value in section.options.items() if value is not None}
        return table

    @property
    def given(self) -> dict[str, Any]:
        """The settings that differ from the defaults, by section: ``Experiment(**experiment.given) == experiment``."""
        given: dict[str, Any] = {}
        for name, value in self:
            if not isinstance(value, BaseModel):
                changed = {} if value == type(self).model_fields[name].default else {name: value}
                given |= changed
                continue
            own = {key: held for key, held in value if key in value.model_fields_set and key != "parts"}
            section = {key: held for key, held in own.items() if held != type(value).model_fields[key].default}
            parts = value.parts.values() if isinstance(value, Choosing) else ()
            for part in parts:
                section |= changed_options(part)
            if section:
                given[name] = section
        return given

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
        return Physics.of_settings(self.model_dump(), probes=needs.probes, ideal=needs.ideal)

    @property
    def scale(self) -> Scale:
        """The length of a slot and the energy of a unit, where they are stated."""
        return Scale(self.slot_seconds, self.unit_joules)

    def build_harvest(self) -> Harvest:
        """Returns the harvest of the run, after its energy model has read and checked what it needs.

        Raises:
            FallowError: The energy model can't be used as it is.
        """
        return prepare_harvest(
            self.build("energy", "model"),
            seed=self.seed,
            clients=self.clients,
            slots_per_epoch=self.slots_per_epoch,
            scale=self.scale,
            correlation=self.energy.correlation,
            mean=self.energy.mean,
        )

    def __repr__(self) -> str:
        return f"Experiment({', '.join(f'{key}={value!r}' for key, value in self.given.items())})"

    def __str__(self) -> str:
        return repr(self)

    def _check(self) -> None:
        """Raises `ConfigError` for settings that are valid one by one but can't be run together."""
        build_trackers(self.output.trackers)
        policy = self.build("policy")
        physics = self.build_physics(policy)
        if isinstance(policy, Reserve | Reserving):
            check_reserve(physics)
        k = self.policy.options.get("k", 0)
        if isinstance(k, int) and k > self.clients:
            raise ConfigError(
                f"policy.k = {k} is more than clients = {self.clients}; set policy.k to at most {self.clients}."
            )
        check_sizes(self.data.sizes, self.clients, self.data.samples_per_client, self.build("data", "partition"))
        check_batteries(physics, self.cost.transmit, self.cost.probe)
        if self.epochs * self.slots_per_epoch + int(physics.train_cost.max()) > MOST_SLOTS:
            raise ConfigError(
                f"epochs × slots_per_epoch = {self.epochs * self.slots_per_epoch} slots are too many; a run has at "
                f"most {MOST_SLOTS}."
            )
