"""The experiment: strict TOML. Every field is documented, and a wrong one is a sentence before anything runs."""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w
from pydantic import BaseModel, Field, ValidationError

from fallow.arrays import per_client
from fallow.energy import Physics
from fallow.errors import ConfigError
from fallow.experiment.choices import CHOICES, split_options
from fallow.experiment.sections import (
    Aggregation,
    Battery,
    Cost,
    Data,
    Energy,
    Learning,
    Model,
    Output,
    PolicySection,
    Staleness,
)
from fallow.experiment.settings import override, read_settings
from fallow.learning.options import SGD, STRICT, Compute
from fallow.plugins.nested import frozen, thawed
from fallow.plugins.options import option_names
from fallow.plugins.wording import sentence
from fallow.policies import AnyPolicy, needs_of
from fallow.rng import MAX_SEED
from fallow.trackers import build_trackers

MOST_SLOTS = 2**31 - 1
"""Slots are counted in 32 bits."""


MOST_CLIENTS = 10**8
"""Their batteries and books alone take ten gigabytes."""


class Experiment(BaseModel):
    """One run, in full. The defaults are the paper's numbers."""

    model_config = STRICT
    seed: int = Field(0, ge=0, le=MAX_SEED, description="the same seed gives the same bytes")
    clients: int = Field(100, ge=1, le=MOST_CLIENTS, description="N")
    epochs: int = Field(500, ge=1, description="T: global rounds")
    slots_per_epoch: int = Field(30, ge=1, description="S")
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
    aggregation: Aggregation = Aggregation()
    staleness: Staleness = Staleness()
    compute: Compute = Compute()
    output: Output = Output()

    @classmethod
    def parse(cls, raw: Mapping[str, Any], *, to_run: bool = True) -> "Experiment":
        """Returns the experiment that a table of settings describes; what it does not set keeps its default.

        Args:
            raw: Settings by section.
            to_run: Whether to check that it can be run, here and now.
        """
        table = {key: frozen(value) for key, value in raw.items()}
        for section in dict.fromkeys(choice.section for choice in CHOICES):
            given = table.get(section, {})
            if isinstance(given, Mapping):
                own = sections()[section].model_fields
                table[section] = split_options(section, given, {name: field.default for name, field in own.items()})
        try:
            experiment = cls.model_validate(table)
        except ValidationError as error:
            raise ConfigError(sentence(error, model=cls)) from error
        if to_run:
            experiment.check()
        return experiment

    @classmethod
    def read(cls, path: Path | None, overrides: Iterable[str] = (), *, to_run: bool = True) -> "Experiment":
        """Returns the experiment in a TOML file (None: the defaults), changed by ``key=value`` overrides."""
        settings = read_settings(path)
        if "grid" in settings:
            raise ConfigError(f"{path} describes a grid of runs; `fallow sweep {path}` carries them out.")
        for assignment in overrides:
            override(settings, assignment)
        return cls.parse(settings, to_run=to_run)

    @classmethod
    def from_toml(cls, text: str) -> "Experiment":
        """Returns the experiment that `to_toml` wrote."""
        return cls.parse(tomllib.loads(text))

    def to_toml(self) -> str:
        """Returns the resolved config as TOML: every field, defaults included."""
        table = self.model_dump()
        for choice in CHOICES:
            options = getattr(self, choice.section).options
            table[choice.section] |= {key: value for key, value in options.items() if value is not None}
        return tomli_w.dumps(thawed(table))

    def build(self, section: str, field: str = "name") -> Any:
        """Returns what a section chooses by name, made with its options; as in ``build("policy")``."""
        (choice,) = (one for one in CHOICES if (one.section, one.field) == (section, field))
        chosen = getattr(self, section)
        return choice.build(getattr(chosen, field), chosen.model_dump() | chosen.options)

    def build_physics(self, policy: AnyPolicy) -> Physics:
        """Returns what does not change during the run."""
        needs = needs_of(policy)
        return Physics(
            slots_per_epoch=self.slots_per_epoch,
            capacity=per_client("battery.capacity", self.battery.capacity, self.clients, np.int32),
            initial=per_client("battery.initial", self.battery.initial, self.clients, np.int32),
            train_cost=per_client("cost.train", self.cost.train, self.clients, np.int32),
            transmit_cost=self.cost.transmit,
            probe_cost=self.cost.probe if needs.distance != "none" else 0,
            starts_per_epoch=self.starts_per_epoch,
            ideal=needs.ideal,
        )

    def check(self) -> None:
        """Refuses what is well written but can't be run."""
        build_trackers(self.output.trackers)
        policy = self.build("policy")
        physics = self.build_physics(policy)
        if "k" in option_names(type(policy)) and self.policy.k > self.clients:
            raise ConfigError(
                f"policy.k = {self.policy.k} is more than clients = {self.clients}; set policy.k to at most "
                f"{self.clients}."
            )
        costs = (
            ("cost.train", physics.train_cost, "ever train"),
            ("cost.transmit", np.broadcast_to(self.cost.transmit, self.clients), "ever send an update"),
            ("cost.probe", np.broadcast_to(self.cost.probe, self.clients), "ever make a probe"),
        )
        initial = ("battery.initial", physics.initial, "begin with what it holds")
        for name, units, consequence in (initial, *(() if physics.ideal else costs)):
            over = np.flatnonzero(units > physics.capacity)
            if over.size:
                who = "nobody can" if over.size == self.clients else f"client {over[0]} can't"
                raise ConfigError(
                    f"{name} = {units[over[0]]} is above battery.capacity = {physics.capacity[over[0]]}, so {who} "
                    f"{consequence}; raise the capacity or lower {name}."
                )
        if self.epochs * self.slots_per_epoch + int(physics.train_cost.max()) > MOST_SLOTS:
            raise ConfigError(
                f"epochs × slots_per_epoch = {self.epochs * self.slots_per_epoch} slots are too many; a run has at "
                f"most {MOST_SLOTS}."
            )


def sections() -> dict[str, type[BaseModel]]:
    """Returns the sections of an experiment by name."""
    annotations = ((name, field.annotation) for name, field in Experiment.model_fields.items())
    return {name: kind for name, kind in annotations if isinstance(kind, type) and issubclass(kind, BaseModel)}
