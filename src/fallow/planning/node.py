"""The description of a node: a device in joules, where its energy comes from, and what is wished of it."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from fallow.energy import EnergyModel, Scaled, Trace, Watts
from fallow.errors import ConfigError
from fallow.experiment.choices import as_table, build_choices
from fallow.experiment.sections import Energy
from fallow.experiment.settings import override, read_settings
from fallow.learning.options import STRICT
from fallow.planning.profiles import resolve_device
from fallow.plugins.nested import plain
from fallow.plugins.validation import sentence
from fallow.plugins.wording import did_you_mean
from fallow.rng import MAX_SEED

DAY_SECONDS = 86_400
YEAR_DAYS = 365

Positive = Annotated[float, Field(gt=0, le=1e12)]


class NodeDevice(BaseModel):
    """What the device costs and stores, in joules, watts and seconds."""

    model_config = STRICT
    train_joules: float = Field(gt=0, le=1e12, description="energy of one training")
    capacity_joules: float = Field(gt=0, le=1e12, description="what the battery can store")
    train_seconds: float = Field(0.0, ge=0, le=1e7, description="how long a training takes; it fills one slot at least")
    transmit_joules: float = Field(0.0, ge=0, le=1e12, description="energy of one upload")
    transmit_seconds: float = Field(
        0.0, ge=0, le=1e7, description="how long an upload takes; it fills one slot at least"
    )
    listen_joules: float = Field(0.0, ge=0, le=1e12, description="energy to hear the server, once a round")
    download_joules: float = Field(
        0.0, ge=0, le=1e12, description="energy to receive the model, before a round's first training"
    )
    idle_watts: float = Field(
        0.0, ge=0, le=1e12, description="power that the device draws while it is awake, whatever it does"
    )
    efficiency: float = Field(1.0, gt=0, le=1, description="share of the harvest that reaches the battery")
    self_discharge: float = Field(0.0, ge=0, lt=1, description="share of what is stored that leaks away in a day")
    cutoff: float = Field(0.0, ge=0, lt=1, description="share of the battery below which the device sleeps")
    wake: float = Field(0.0, ge=0, le=1, description="share of the battery at which it wakes; 0 is the cut-off")
    initial: float = Field(1.0, ge=0, le=1, description="share of the battery that is charged at the beginning")
    profile: str = Field(
        "", description="a name of `fallow list devices`, or the path of a profile, for what is not stated"
    )
    radio: str = Field("", description="a name of `fallow list radios`, for the energy and time of an upload")
    update_bytes: float = Field(0.0, ge=0, description="bytes of an update, which the radio sends")


class Wish(BaseModel):
    """What is asked of the node."""

    model_config = STRICT
    trainings_per_day: float = Field(ge=0, description="trainings a day that are wanted, the mean over all years")
    met_in: Literal["every-month", "on-average"] = Field(
        "every-month", description="whether the worst month of the year decides, or the whole year"
    )


class NodePolicy(BaseModel):
    """When the device trains."""

    model_config = STRICT
    name: Literal["greedy", "reserve"] = Field(
        "greedy", description="train as soon as there is energy, or only with the energy to send as well, and in time"
    )
    selected: float = Field(1.0, ge=0, le=1, description="probability that the server selects the device in a round")
    starts_per_round: int = Field(0, ge=0, le=10**6, description="most trainings a round; 0 is no limit")


class Search(BaseModel):
    """Which sizes are tried. A list is taken as it is; without one, sizes around the given ones are tried."""

    model_config = STRICT
    batteries: tuple[Positive, ...] = Field((), max_length=1000, description="capacities in joules")
    panels: tuple[Annotated[float, Field(gt=0, le=1000)], ...] = Field(
        (), max_length=1000, description="sizes of the energy source, as multiples of the given one"
    )


class Node(BaseModel):
    """A device, its energy source, its policy, and what is wished.

    Raises:
        ConfigError: A setting is unknown or wrong, or the settings together make no sense.

    Examples:
        >>> Node(device={"train_joules": -1, "capacity_joules": 100}, wish={"trainings_per_day": 1}, unit_joules=1.0)
        Traceback (most recent call last):
        ...
        fallow.errors.ConfigError: device.train_joules = -1 must be more than 0.0.
    """

    model_config = STRICT
    device: NodeDevice
    energy: Energy = Energy()
    wish: Wish
    policy: NodePolicy = NodePolicy()
    search: Search = Search()
    slot_seconds: float = Field(3600.0, ge=1, le=DAY_SECONDS, description="seconds of a slot")
    unit_joules: float = Field(0.0, ge=0, description="joules of a unit; 0 chooses one that is small enough")
    round_hours: float = Field(24.0, gt=0, le=24 * YEAR_DAYS, description="hours of a round of the server")
    years: int = Field(20, ge=1, le=1000, description="simulated years of weather")
    warm_up_days: int = Field(
        YEAR_DAYS, ge=0, le=10 * YEAR_DAYS, description="days that are lived through before a year is counted"
    )
    seed: int = Field(0, ge=0, le=MAX_SEED, description="the same seed gives the same weather")

    def __init__(self, **settings: Any) -> None:
        table = {key: plain(as_table(key, value) if key == "energy" else value) for key, value in settings.items()}
        if "device" in table:
            table["device"] = resolve_device(table["device"])
        if isinstance(table.get("energy", {}), Mapping):
            defaults = {name: field.default for name, field in Energy.model_fields.items() if name != "parts"}
            table["energy"] = build_choices("energy", table.get("energy", {}), defaults)
        try:
            super().__init__(**table)
        except ValidationError as error:
            raise ConfigError(_sentence(error)) from None
        self._check()

    @property
    def model(self) -> EnergyModel:
        """The energy model, with its options."""
        model: EnergyModel = self.energy.parts["model"]
        return model

    @property
    def in_watts(self) -> bool:
        """Whether the energy source is in watts, so that the unit is free to be chosen."""
        return isinstance(self.model, Scaled)

    @property
    def slots_per_round(self) -> int:
        """S, the slots of a round."""
        return round(self.round_hours * 3600 / self.slot_seconds)

    def _check(self) -> None:
        """Raises `ConfigError` for settings that are right one by one but not together."""
        slots = self.round_hours * 3600 / self.slot_seconds
        if self.slots_per_round < 1 or abs(slots - self.slots_per_round) > 1e-6 * slots:
            raise ConfigError(
                f"round_hours = {self.round_hours:g} is {slots:g} slots of {self.slot_seconds:g} s; it must be a whole "
                "number of slots, at least one."
            )
        if not self.in_watts and not self.unit_joules:
            raise ConfigError(
                f"The energy model '{self.energy.model}' counts in units; set unit_joules to the joules of one."
            )
        if isinstance(self.model, Trace | Watts) and self.model.end != "repeat":
            raise ConfigError(
                f"A plan looks at {self.years} years, and energy.end = '{self.model.end}' ends the weather with the "
                "file; set it to 'repeat'."
            )
        if self.energy.correlation:
            raise ConfigError(
                f"energy.correlation = {self.energy.correlation:g} is about several clients, and a plan is about one; "
                "remove it."
            )
        device = self.device
        if device.wake and device.wake < device.cutoff:
            raise ConfigError(
                f"device.wake = {device.wake:g} is below device.cutoff = {device.cutoff:g}: the device would fall "
                "asleep as it wakes; raise device.wake, or leave it out."
            )


def read_node(
    given: Path | str | Mapping[str, Any] | None, settings: Mapping[str, Any], overrides: Iterable[str] = ()
) -> Node:
    """Returns the node that a file or a table describes, changed by settings.

    Args:
        given: A TOML file, or a table as it would hold; None: the settings say it all.
        settings: Sections, or settings without one, in place of those of `given`.
        overrides: Assignments, each ``key=value``.

    Raises:
        ConfigError: The file can't be read, or a setting is unknown or wrong.
    """
    if given is None:
        table: dict[str, Any] = {}
    elif isinstance(given, str | Path):
        table = read_settings(Path(given))
    elif isinstance(given, Mapping):
        table = {key: dict(value) if isinstance(value, Mapping) else value for key, value in given.items()}
    else:
        raise ConfigError(
            f"The node can't be of the type {type(given).__name__}; give the path of a TOML file, a table, or settings "
            "by name, as in fallow.plan(device={…}, trainings_per_day=4)."
        )
    for key, value in settings.items():
        section, _, name = key.partition(".")
        if name:
            inside = table.get(section, {})
            if not isinstance(inside, Mapping):
                raise ConfigError(f"'{section}' must be a section, a table in TOML.")
            table[section] = {**inside, name: value}
        else:
            table[section] = value
    for assignment in overrides:
        override(table, assignment)
    return Node(**table)


def _sentence(error: ValidationError) -> str:
    """Returns one sentence about a wrong setting: first one that does not exist, which another may lack."""
    details = {detail["type"]: detail["loc"] for detail in reversed(error.errors())}
    if "extra_forbidden" in details:
        *section, name = map(str, details["extra_forbidden"])
        inside = Node.model_fields[section[0]].annotation if section else Node
        names = inside.model_fields if isinstance(inside, type) and issubclass(inside, BaseModel) else ()
        return f"There is no setting '{'.'.join((*section, name))}'{did_you_mean(name, names)}"
    if "missing" in details:
        path = [str(part) for part in details["missing"]]
        return f"A node needs {'.'.join(path)}; set it" + (f", a section [{path[0]}]." if len(path) == 1 else ".")
    return sentence(error, model=Node)
