"""The experiment: one run, described in full. A wrong setting is one sentence before anything runs."""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w
from pydantic import BaseModel, Field, ValidationError

from fallow.energy import Physics
from fallow.errors import ConfigError
from fallow.experiment.choices import CHOICES, as_table, build_choices
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
    Output,
    PolicySection,
    Staleness,
)
from fallow.experiment.settings import override, put, read_settings
from fallow.learning.options import SGD, STRICT, Compute
from fallow.plugins.nested import plain, thawed
from fallow.plugins.objects import changed_options, known_only_here
from fallow.plugins.validation import sentence
from fallow.policies import AnyPolicy, needs_of
from fallow.rng import MAX_SEED
from fallow.trackers import build_trackers, tracker_name

MOST_SLOTS = 2**31 - 1
"""Slots are counted in 32 bits."""

MOST_CLIENTS = 10**8
"""Their batteries and books alone take ten gigabytes."""


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

    def __init__(self, **settings: Any) -> None:
        table = {key: plain(_section_table(key, value)) for key, value in settings.items()}
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
        """Returns the experiment that a table of settings by section describes."""
        return cls(**table)

    @classmethod
    def read(cls, path: Path | str | None, overrides: Iterable[str] = ()) -> "Experiment":
        """Returns the experiment in a TOML file (None: the defaults), changed by ``key=value`` overrides."""
        settings = read_settings(None if path is None else Path(path))
        if "grid" in settings:
            raise ConfigError(f"{path} describes a grid of runs; `fallow sweep {path}` carries them out.")
        for assignment in overrides:
            override(settings, assignment)
        return cls(**settings)

    @classmethod
    def from_toml(cls, text: str) -> "Experiment":
        """Returns the experiment that `to_toml` wrote."""
        return cls(**tomllib.loads(text))

    def to_toml(self) -> str:
        """Returns the resolved config as TOML: every setting, defaults included."""
        return tomli_w.dumps(thawed(self.table()))

    def table(self) -> dict[str, Any]:
        """Returns every setting by section, with the options of what is chosen beside its name; None is left out."""
        table = self.model_dump()
        for name, section in self:
            if isinstance(section, Choosing):
                table[name] |= {key: value for key, value in section.options.items() if value is not None}
        return table

    @property
    def given(self) -> dict[str, Any]:
        """The settings that differ from the defaults, by section: ``Experiment(**experiment.given)`` is the same."""
        given: dict[str, Any] = {}
        for name, value in self:
            if not isinstance(value, BaseModel):
                changed = {} if value == type(self).model_fields[name].default else {name: value}
                given |= changed
                continue
            own = {key: getattr(value, key) for key in value.model_fields_set - {"parts"}}
            own = {key: held for key, held in own.items() if held != type(value).model_fields[key].default}
            parts = value.parts.values() if isinstance(value, Choosing) else ()
            for part in parts:
                own |= changed_options(part)
            if own:
                given[name] = own
        return given

    def replace(self, **changes: Any) -> "Experiment":
        """Returns the experiment with other settings.

        Args:
            **changes: A section or a setting without one, as in ``policy=VAoI(k=5)`` or ``seed=1``, takes the place of
                what is there; one setting of a section is named with two underscores, as in ``energy__p=0.1``.

        Examples:
            >>> Experiment(energy={"p": 0.1}).replace(energy__p=0.5, seed=1).given
            {'seed': 1, 'energy': {'p': 0.5}}
        """
        settings = self.given
        for key, value in changes.items():
            put(settings, key.replace("__", "."), value)
        return type(self)(**settings)

    def build(self, section: str, field: str = "name") -> Any:
        """Returns the object that a section chooses, as in ``build("policy")`` or ``build("energy", "model")``."""
        (choosing,) = (value for name, value in self if name == section)
        return choosing.parts[field]

    def build_physics(self, policy: AnyPolicy) -> Physics:
        """Returns what does not change during the run."""
        needs = needs_of(policy)
        return Physics.of_settings(self.model_dump(), probes=needs.distance != "none", ideal=needs.ideal)

    def __repr__(self) -> str:
        return f"Experiment({', '.join(f'{key}={value!r}' for key, value in self.given.items())})"

    def __str__(self) -> str:
        return repr(self)

    def _check(self) -> None:
        """Raises `ConfigError` for what is well written but can't be run."""
        build_trackers(self.output.trackers)
        physics = self.build_physics(self.build("policy"))
        k = self.policy.options.get("k", 0)
        if isinstance(k, int) and k > self.clients:
            raise ConfigError(
                f"policy.k = {k} is more than clients = {self.clients}; set policy.k to at most {self.clients}."
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


def check_experiment(given: object) -> None:
    """Checks that what a user gave as an experiment is one.

    Raises:
        ConfigError: It is something else, such as the path of a config or a policy.
    """
    if isinstance(given, Experiment):
        return
    if isinstance(given, str | Path):
        raise ConfigError(
            f"The experiment can't be the path '{given}'; read it with fallow.Experiment.read({str(given)!r})."
        )
    if isinstance(given, Mapping):
        raise ConfigError("The experiment can't be a dict; make one of it with fallow.Experiment(**settings).")
    shown = given.__name__ if isinstance(given, type) else type(given).__name__
    raise ConfigError(
        f"The experiment can't be {'the class' if isinstance(given, type) else 'of the type'} {shown}; give a "
        "fallow.Experiment, as in fallow.Experiment(epochs=100, policy='vaoi')."
    )


def bound_to_process(experiment: Experiment) -> str | None:
    """Returns the first class or function of an experiment that only this process knows; None if there is none.

    It was given as an object and is defined in a notebook, in the script that runs, or inside a function: no other
    process can import it.
    """
    chosen = [getattr(getattr(experiment, choice.section), choice.field) for choice in CHOICES]
    return next((name for name in (*chosen, *experiment.output.trackers) if known_only_here(name)), None)


def _section_table(key: str, value: Any) -> Any:
    """Returns what Python gave for a section, or for a setting without one, as TOML would hold it."""
    if isinstance(value, Choosing):
        return value.model_dump() | value.options
    if isinstance(value, BaseModel):
        return value.model_dump()
    if key == "learning" and isinstance(value, str):
        return {"mode": value}
    if key == "output" and isinstance(value, Mapping) and "trackers" in value:
        names = value["trackers"]
        several = isinstance(names, list | tuple)
        return {**value, "trackers": [tracker_name(name) for name in names] if several else tracker_name(names)}
    return as_table(key, value) if key in SECTIONS else value
