"""Classes of devices in an experiment: what a user may say of each, and what an experiment keeps of it."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field, ValidationError

from fallow.energy.base import MOST_UNITS
from fallow.energy.devices.classes import SECTION_KEYS
from fallow.errors import ConfigError
from fallow.experiment.choices import as_table, build_choices
from fallow.experiment.sections import MOST_SAMPLES, Energy, Slots, Units
from fallow.learning.options import STRICT
from fallow.plugins.nested import plain
from fallow.plugins.validation import sentence
from fallow.plugins.wording import did_you_mean

Amount = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]


class DeviceClass(BaseModel):
    """Clients of one kind: their share, and what they say in place of the sections battery, cost, energy and data.

    An experiment keeps classes resolved: profile, radio, joules and seconds have become units and slots, and `origin`
    says how. The numbers that are None are those of the experiment's sections.

    Attributes:
        stated: What the user wrote, before it was resolved.

    Examples:
        >>> from fallow.experiment import Experiment
        >>> device = {"name": "node", "train_joules": 3.0, "train_seconds": 90, "capacity_joules": 20}
        >>> node = Experiment(device=[device], slot_seconds=60, unit_joules=0.5).device[0]
        >>> node.train, node.train_slots, node.capacity
        (6, 2, 40)
    """

    model_config = STRICT
    name: str = Field("", description="of the class; of its profile where none is given")
    share: Amount = Field(1.0, description="of the clients: only the proportions of the shares count")
    profile: str = Field("", description="a name of `fallow list devices`, or the path of a profile in TOML")
    radio: str = Field("", description="a name of `fallow list radios`; the profile's where none is given")
    update_bytes: Positive | None = Field(
        None, description="bytes of an update; 4 a parameter of the model where none are given"
    )
    origin: str = Field("", description="where the numbers come from, in words")
    capacity: Units | None = Field(None, description="in place of battery.capacity")
    initial: Units | None = Field(None, description="in place of battery.initial")
    efficiency: Annotated[float, Field(gt=0, le=1)] | None = Field(None, description="in place of battery.efficiency")
    self_discharge: Annotated[float, Field(ge=0, lt=1)] | None = Field(
        None, description="in place of battery.self_discharge"
    )
    idle: Annotated[float, Field(ge=0, le=MOST_UNITS)] | None = Field(None, description="in place of battery.idle")
    cutoff: Units | None = Field(None, description="in place of battery.cutoff")
    wake: Units | None = Field(None, description="in place of battery.wake")
    train: Slots | None = Field(None, description="in place of cost.train")
    train_slots: Units | None = Field(None, description="in place of cost.train_slots")
    transmit: Units | None = Field(None, description="in place of cost.transmit")
    transmit_slots: Slots | None = Field(None, description="in place of cost.transmit_slots")
    probe: Units | None = Field(None, description="in place of cost.probe")
    listen: Units | None = Field(None, description="in place of cost.listen")
    download: Units | None = Field(None, description="in place of cost.download")
    steps: Slots | None = Field(
        None, description="batches of a training; as many as slots, or as cost.train where the training is in joules"
    )
    samples: Annotated[int, Field(ge=1, le=MOST_SAMPLES)] | None = Field(None, description="|D_i| of its clients")
    energy: Energy | None = Field(None, description="a harvest of its own: a table as the section energy")
    capacity_joules: Positive | None = Field(None, description="joules that the battery holds")
    initial_joules: Amount | None = Field(None, description="joules that it holds at first")
    cutoff_joules: Amount | None = Field(None, description="joules below which the device sleeps")
    wake_joules: Amount | None = Field(None, description="joules at which it wakes up")
    idle_watts: Amount | None = Field(None, description="watts while it is awake, whatever it does")
    active_watts: Positive | None = Field(None, description="watts in all while it trains")
    flops_per_second: Positive | None = Field(None, description="floating-point operations a second while it trains")
    forward_flops: Positive | None = Field(
        None, description="floating-point operations of one sample's forward pass; the model's where none are given"
    )
    train_joules: Positive | None = Field(None, description="joules of one training, beyond idle_watts")
    train_seconds: Positive | None = Field(None, description="seconds of one training")
    transmit_joules: Amount | None = Field(None, description="joules of one upload, beyond idle_watts")
    transmit_seconds: Amount | None = Field(None, description="seconds of one upload")
    probe_joules: Amount | None = Field(None, description="joules of one probe, beyond idle_watts")
    listen_joules: Amount | None = Field(None, description="joules of hearing the server once an epoch")
    download_joules: Amount | None = Field(None, description="joules of receiving the model")
    stated: dict[str, Any] = Field({}, exclude=True, repr=False)

    def __eq__(self, other: object) -> bool:
        """Returns whether two classes have the same numbers and the same harvest, however they were stated."""
        return isinstance(other, DeviceClass) and device_table(self) == device_table(other)

    def __hash__(self) -> int:
        return hash((self.name, self.share, self.origin))


KEPT: Final = ("name", "share", "origin", *SECTION_KEYS["battery"], *SECTION_KEYS["cost"], "steps", "samples", "energy")
"""What an experiment keeps of a class once it is resolved."""


def parse_device(place: int, given: Any) -> DeviceClass:
    """Returns a class of devices as the user stated it.

    Args:
        place: Its place in the list, from 0, for error sentences.
        given: A table, the name of a profile, or a class of devices.

    Raises:
        ConfigError: A key is unknown, or a value is wrong.
    """
    if isinstance(given, DeviceClass):
        given = given.stated or device_table(given)
    if isinstance(given, str):
        given = {"profile": given}
    where = f"device[{place}]"
    if not isinstance(given, Mapping):
        raise ConfigError(f"{where} = {given!r} must be a table, or the name of a profile.")
    stated = {key: plain(value) for key, value in given.items() if value is not None}
    fields = dict(stated)
    if "energy" in stated:
        stated["energy"] = plain(as_table("energy", given["energy"]))
        fields["energy"] = _energy(where, stated["energy"])
    if "stated" in stated:
        raise ConfigError(f"There is no setting '{where}.stated'{did_you_mean('stated', KEPT)}")
    try:
        return DeviceClass(**fields, stated=stated)
    except ValidationError as error:
        raise ConfigError(sentence(error, model=DeviceClass, setting=where)) from None


def device_table(device: DeviceClass) -> dict[str, Any]:
    """Returns a class of devices as TOML holds it, without what it does not say.

    Args:
        device: The class.
    """
    table = {key: value for key, value in device.model_dump().items() if value not in (None, "")}
    if device.energy is not None:
        table["energy"] |= {key: value for key, value in device.energy.options.items() if value is not None}
    return table


def listed(given: Any) -> Sequence[Any]:
    """Returns the classes of devices that a user gave, as a list.

    Args:
        given: A list of tables, or of names of profiles.

    Raises:
        ConfigError: It is no list.
    """
    if isinstance(given, Mapping | str | DeviceClass) or not isinstance(given, Sequence):
        raise ConfigError(
            f"device = {given!r} must be a list of classes: [[device]] in TOML, and in Python as in "
            "device=[{'profile': 'pi-zero-2w'}]."
        )
    return given


def _energy(where: str, given: Mapping[str, Any]) -> Energy:
    defaults = {name: field.default for name, field in Energy.model_fields.items() if name != "parts"}
    try:
        return Energy(**build_choices("energy", given, defaults))
    except ValidationError as error:
        raise ConfigError(sentence(error, model=Energy, setting=f"{where}.energy")) from None
    except ConfigError as error:
        raise ConfigError(f"In {where}: {error}") from None
