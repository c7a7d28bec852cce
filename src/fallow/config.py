"""The experiment: strict TOML. Every field is documented, and a wrong one is a sentence before anything runs."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import numpy as np
import tomli_w
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from fallow.arrays import per_client
from fallow.energy import ENERGY_MODELS, EnergyModel
from fallow.energy.trace import MOST_UNITS
from fallow.errors import ConfigError
from fallow.names import did_you_mean, resolve
from fallow.policies import POLICIES, AnyPolicy
from fallow.rng import MAX_SEED
from fallow.sentences import sentence
from fallow.world import Physics

STRICT = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
MOST_SLOTS = 2**31 - 1
"""Slots are counted in 32 bits."""

Units = Annotated[int, Field(ge=0, le=MOST_UNITS)]
Slots = Annotated[int, Field(ge=1, le=MOST_UNITS)]


class Battery(BaseModel):
    """What a client can store."""

    model_config = STRICT
    capacity: Units | tuple[Units, ...] = Field(25, description="E_max: units; one number, or one for each client")
    initial: Units | tuple[Units, ...] = Field(0, description="E_i(0): units; one number, or one for each client")


class Cost(BaseModel):
    """What a client pays."""

    model_config = STRICT
    train: Slots | tuple[Slots, ...] = Field(
        20, description="κ: units, and slots, of one training; one number, or one for each client"
    )
    transmit: Units = Field(1, description="units of one upload, which takes one slot")
    probe: Units = Field(0, description="units of one probe, for policies that make it (reading 11)")


class Learning(BaseModel):
    """What is learnt."""

    model_config = STRICT
    mode: Literal["none"] = Field("none", description="none: energy only, who would train, send and rest")
    significance: float = Field(
        1.0, ge=0, le=1, description="in mode none: probability that a change is significant (M_i ≥ μ)"
    )


class Output(BaseModel):
    """What is written."""

    model_config = STRICT
    events: bool = Field(True, description="write events.parquet: every selection, start, finish and upload")


class EnergyChoice(BaseModel):
    """Where the energy comes from; the other fields are the options of the model."""

    model_config = STRICT
    model: str = Field("bernoulli", description=f"{', '.join(ENERGY_MODELS)}, or module:Class")
    options: dict[str, Any] = Field({}, description="the options of the model", exclude=True)


class PolicyChoice(BaseModel):
    """Who trains; the other fields are the options of the policy."""

    model_config = STRICT
    name: str = Field("vaoi", description=f"{', '.join(POLICIES)}, or module:Class")
    k: int = Field(10, ge=1, description="k: clients selected an epoch, for policies that choose k")
    mu: float = Field(0.5, ge=0, description="μ: distance from which a change is significant; every run's ages use it")
    options: dict[str, Any] = Field({}, description="the options of the policy", exclude=True)


class Experiment(BaseModel):
    """One run, in full. The defaults are the paper's numbers."""

    model_config = STRICT
    seed: int = Field(0, ge=0, le=MAX_SEED, description="the same seed gives the same bytes")
    clients: int = Field(100, ge=1, description="N")
    epochs: int = Field(500, ge=1, description="T: global rounds")
    slots_per_epoch: int = Field(30, ge=1, description="S")
    starts_per_epoch: int = Field(
        0, ge=0, description="most trainings a client may start in an epoch; 0 is no limit (reading 4)"
    )
    energy: EnergyChoice = EnergyChoice()
    battery: Battery = Battery()
    cost: Cost = Cost()
    policy: PolicyChoice = PolicyChoice()
    learning: Learning = Learning()
    output: Output = Output()

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> "Experiment":
        """Returns the experiment that a table of settings describes; what it does not set keeps its default."""
        table = {key: _frozen(value) for key, value in raw.items()}
        for section, name_field, known, what in (
            ("energy", "model", ENERGY_MODELS, "energy model"),
            ("policy", "name", POLICIES, "policy"),
        ):
            if isinstance(table.get(section, {}), Mapping):
                table[section] = _split_options(section, table.get(section, {}), name_field, known, what)
        try:
            experiment = cls.model_validate(table)
        except ValidationError as error:
            raise ConfigError(sentence(error, model=cls)) from error
        experiment._check()
        return experiment

    @classmethod
    def read(cls, path: Path | None, overrides: Iterable[str] = ()) -> "Experiment":
        """Returns the experiment in a TOML file (None: the defaults), changed by ``key=value`` overrides."""
        raw: dict[str, Any] = {}
        if path is not None:
            try:
                raw = tomllib.loads(path.read_text(encoding="utf-8"))
            except OSError as error:
                raise ConfigError(f"The config {path} can't be read: {error.strerror or error}.") from error
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                raise ConfigError(f"The config {path} is not valid TOML: {error}.") from error
        for override in overrides:
            _override(raw, override)
        return cls.parse(raw)

    def to_toml(self) -> str:
        """Returns the resolved config as TOML: every field, defaults included."""
        table = self.model_dump()
        table["energy"] |= self.energy.options
        table["policy"] |= self.policy.options
        return tomli_w.dumps(_plain(table))

    def build_policy(self) -> AnyPolicy:
        """Returns the policy with its options."""
        cls = resolve(self.policy.name, POLICIES, "policy")
        names = _option_names(cls)
        shared = {name: getattr(self.policy, name) for name in ("k", "mu") if name in names}
        policy: AnyPolicy = build_component("policy", self.policy.name, cls, shared | self.policy.options)
        return policy

    def build_energy(self) -> EnergyModel:
        """Returns the energy model with its options."""
        cls = resolve(self.energy.model, ENERGY_MODELS, "energy model")
        model: EnergyModel = build_component("energy", self.energy.model, cls, self.energy.options)
        return model

    def build_physics(self, policy: AnyPolicy) -> Physics:
        """Returns what does not change during the run."""
        return Physics(
            slots_per_epoch=self.slots_per_epoch,
            capacity=per_client("battery.capacity", self.battery.capacity, self.clients, np.int32),
            initial=per_client("battery.initial", self.battery.initial, self.clients, np.int32),
            train_cost=per_client("cost.train", self.cost.train, self.clients, np.int32),
            transmit_cost=self.cost.transmit,
            probe_cost=self.cost.probe if getattr(policy, "probes", False) else 0,
            starts_per_epoch=self.starts_per_epoch,
            ideal=getattr(policy, "ideal", False),
        )

    def _check(self) -> None:
        """Refuses what is well written but can't be."""
        policy = self.build_policy()
        self.build_energy()
        physics = self.build_physics(policy)
        if "k" in _option_names(type(policy)) and self.policy.k > self.clients:
            raise ConfigError(
                f"policy.k = {self.policy.k} is more than clients = {self.clients}; set policy.k to at most "
                f"{self.clients}."
            )
        for name, units, consequence in (
            ("battery.initial", physics.initial, "holds more than fits"),
            ("cost.train", physics.train_cost, "could never train"),
            (
                "cost.transmit",
                np.broadcast_to(self.cost.transmit, self.clients),
                "could never send an update",
            ),
            ("cost.probe", np.broadcast_to(self.cost.probe, self.clients), "could never make a probe"),
        ):
            over = np.flatnonzero(units > physics.capacity)
            if over.size:
                who = "every client" if over.size == self.clients else f"client {over[0]}"
                raise ConfigError(
                    f"{name} = {units[over[0]]} is above battery.capacity = {physics.capacity[over[0]]}, so {who} "
                    f"{consequence}; raise the capacity or lower {name}."
                )
        if self.epochs * self.slots_per_epoch + int(physics.train_cost.max()) > MOST_SLOTS:
            raise ConfigError(
                f"epochs × slots_per_epoch = {self.epochs * self.slots_per_epoch} slots are too many; a run has at "
                f"most {MOST_SLOTS}."
            )


def _split_options(
    section: str, given: Mapping[str, Any], name_field: str, known: Mapping[str, type], what: str
) -> dict[str, Any]:
    """Parts a section into its own fields and the options of the class that it names."""
    own = (EnergyChoice if section == "energy" else PolicyChoice).model_fields.keys() - {"options"}
    table = {key: value for key, value in given.items() if key in own}
    name = table.get(name_field, next(iter(known)))
    if not isinstance(name, str):
        return table  # the model's own check says so in words
    cls = resolve(name, known, what)
    names = _option_names(cls) - own
    for key in given.keys() - own - names:
        owners = [other for other, its in known.items() if key in _option_names(its)]
        if owners:
            raise ConfigError(
                f"{section}.{key} is an option of {', '.join(owners)}, not of the {what} '{name}'; remove it, or set "
                f"{section}.{name_field}."
            )
        raise ConfigError(f"There is no setting '{section}.{key}'{did_you_mean(key, own | names)}")
    options = {key: value for key, value in given.items() if key not in own}
    built = build_component(section, name, cls, {k: table[k] for k in own & _option_names(cls) if k in table} | options)
    table["options"] = {key: getattr(built, key) for key in sorted(names)}
    return table


def build_component(section: str, name: str, cls: type[Any], options: Mapping[str, Any]) -> Any:
    """Returns `cls` made with `options`, each checked against its annotation."""
    hints = get_type_hints(cls, include_extras=True)
    values = {}
    for key, value in options.items():
        adapter: TypeAdapter[Any] = TypeAdapter(hints[key], config=ConfigDict(strict=True, allow_inf_nan=False))
        try:
            values[key] = adapter.validate_python(value)
        except ValidationError as error:
            raise ConfigError(sentence(error, setting=f"{section}.{key}")) from error
    try:
        return cls(**values)
    except TypeError as error:
        missing = [f.name for f in fields(cls) if f.name not in values] if is_dataclass(cls) else []
        hint = f"set {section}.{missing[0]}" if missing else "its class must take its options as fields"
        raise ConfigError(f"The {section} '{name}' can't be made: {error}; {hint}.") from error


def _option_names(cls: type) -> set[str]:
    return {f.name for f in fields(cls)} if is_dataclass(cls) else set()


def _override(raw: dict[str, Any], override: str) -> None:
    """Applies one ``section.key=value`` to a table of settings, in place."""
    path, equals, text = override.partition("=")
    if not equals or not path.strip():
        raise ConfigError(f"'{override}' is not of the form key=value, as in energy.p=0.01.")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text.strip()  # a bare word is a text: policy.name=vaoi
    *sections, key = [part.strip() for part in path.split(".")]
    table = raw
    for section in sections:
        table = table.setdefault(section, {})
        if not isinstance(table, dict):
            raise ConfigError(f"'{path}' can't be set: '{section}' is not a section.")
    table[key] = value


def _frozen(value: Any) -> Any:
    """Lists become tuples, so that an experiment can't change."""
    if isinstance(value, list):
        return tuple(_frozen(item) for item in value)
    return {key: _frozen(item) for key, item in value.items()} if isinstance(value, dict) else value


def _plain(value: Any) -> Any:
    """Tuples become lists, for TOML."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, dict) else value


def annotated_toml(policy: str = "vaoi", energy: str = "bernoulli") -> str:
    """Returns a config with every setting at its default, each with a line that says what it means."""
    chosen = {
        "policy": resolve(policy, POLICIES, "policy"),
        "energy": resolve(energy, ENERGY_MODELS, "energy model"),
    }
    named = {"policy": ("name", policy), "energy": ("model", energy)}
    lines: list[str] = []
    for name, section in Experiment.model_fields.items():
        if not isinstance(section.annotation, type) or not issubclass(section.annotation, BaseModel):
            lines += _setting(name, section.default, section.description)
            continue
        lines += ["", f"[{name}]"]
        own = {key: field for key, field in section.annotation.model_fields.items() if key != "options"}
        for key, setting in own.items():
            default = named[name][1] if named.get(name, ("",))[0] == key else setting.default
            lines += _setting(key, default, setting.description)
        for option in fields(chosen[name]) if is_dataclass(chosen.get(name)) else ():
            if option.name not in own:
                hint = get_type_hints(chosen[name], include_extras=True)[option.name]
                default = "…" if option.default is MISSING else option.default
                lines += _setting(option.name, default, TypeAdapter(hint).json_schema().get("description"))
    return "\n".join(lines) + "\n"


def _setting(name: str, default: Any, description: str | None) -> list[str]:
    return [f"# {description}", tomli_w.dumps({name: _plain(default)}).strip()]
