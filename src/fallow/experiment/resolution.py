"""From what a user says of a class of devices to units and slots: profile, radio, model and scale."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fallow.energy.devices.conversion import IN_UNITS, as_units
from fallow.energy.devices.library import DeviceProfile, find_profile, find_radio
from fallow.energy.scale import Scale
from fallow.errors import ConfigError
from fallow.experiment.devices import KEPT, DeviceClass, parse_device
from fallow.experiment.model_costs import PASSES, MeasuredModel

if TYPE_CHECKING:
    from fallow.experiment.experiment import Experiment


class Resolution:
    """One class of devices on its way to units. What the user states goes before what the profile states.

    Args:
        device: The class as the user stated it.
        scale: Of the run.
        model: The costs of the run's model, measured where they are needed and not given.
        place: The place of the class among the others, from 0.
        samples: Samples of a client, where the settings say so.
        kappa: The batches of a training that is stated in joules and seconds; None leaves them to its slots.

    Attributes:
        name: Of the class: its own, or that of its profile.
        what: The class in words, as the subject of an error sentence.
    """

    def __init__(
        self, device: DeviceClass, scale: Scale, model: MeasuredModel, *, place: int, samples: int, kappa: int | None
    ) -> None:
        self._profile: DeviceProfile | None = find_profile(device.profile) if device.profile else None
        self.name = device.name or (self._profile.name if self._profile else f"device-{place}")
        self.what = f"The device class '{self.name}'"
        self._kappa = kappa
        self._device, self._scale, self._model = device, scale, model
        self._samples = device.samples or samples
        self._stated = device.model_dump(exclude_none=True)
        self._notes: list[str] = []

    def resolve(self) -> DeviceClass:
        """Returns the class with its numbers in units and slots.

        Raises:
            ConfigError: A number is given twice or missing, or can't be had in units.
        """
        for key, name in IN_UNITS.items():
            if key in self._stated and name in self._stated:
                raise ConfigError(f"{self.what} states {name} and {key}, which is the same twice; remove one of them.")
        physical = {key: value for key in IN_UNITS if (value := self._figure(key)) is not None}
        physical |= self._upload()
        physical |= self._training(physical)
        units = as_units({key: physical[key] for key in IN_UNITS if key in physical}, self._scale, self.what)
        kept = {key: self._stated[key] for key in KEPT if key in self._stated and key != "energy"} | units
        kept["name"] = self.name
        if "train_seconds" in physical:
            kept.setdefault("steps", self._kappa)
        if physical:
            shown = ", ".join(f"{key} = {physical[key]:.6g}" for key in IN_UNITS if key in physical)
            kept["origin"] = "; ".join([*([self._device.origin] if self._device.origin else []), shown, *self._notes])
        return DeviceClass.model_construct(**kept, energy=self._device.energy, stated=self._device.stated)

    def _figure(self, key: str) -> float | None:
        """Returns a number of the user's or, where the user says nothing of it in units either, of the profile's."""
        if key in self._stated:
            return float(self._stated[key])
        if IN_UNITS.get(key, key) in self._stated or self._profile is None or key not in self._profile.figures:
            return None
        figure = self._profile.figures[key]
        self._notes.append(f"{key}: {figure.origin}")
        return figure.value

    def _upload(self) -> dict[str, float]:
        """Returns what the radio makes of the update's bytes, where the user does not say what an upload takes."""
        name = self._device.radio or (self._profile.radio if self._profile else "")
        missing = [
            key
            for key in ("transmit_joules", "transmit_seconds")
            if key not in self._stated and IN_UNITS[key] not in self._stated
        ]
        if not name or not missing:
            return {}
        radio = find_radio(name)
        update_bytes = self._figure("update_bytes")
        if update_bytes is None:
            update_bytes = self._model.costs().update_bytes
        made = {"transmit_joules": radio.joules(update_bytes), "transmit_seconds": radio.seconds(update_bytes)}
        figures = (("joules_per_bit", radio.joules_per_bit), ("bits_per_second", radio.bits_per_second))
        self._notes.append(f"upload: {update_bytes:.0f} bytes over {name}")
        self._notes += [f"{key}: {figure.origin}" for key, figure in figures]
        return {key: made[key] for key in missing}

    def _training(self, physical: Mapping[str, float]) -> dict[str, float]:
        """Returns joules and seconds of a training where they follow from watts and operations a second."""
        made: dict[str, float] = {}
        seconds = physical.get("train_seconds")
        if seconds is None and "train_slots" not in self._stated:
            speed = self._figure("flops_per_second")
            if speed is not None:
                flops, samples = self._operations()
                seconds = made["train_seconds"] = PASSES * flops * samples / speed
                self._notes.append(f"train_seconds: {PASSES} × {flops:.0f} FLOP × {samples} samples / {speed:g} FLOP/s")
            elif "train_joules" in physical:
                raise ConfigError(
                    f"{self.what} has train_joules = {physical['train_joules']:g} and no time; state train_seconds, or "
                    "train_slots."
                )
        if "train_joules" not in physical and "train" not in self._stated and seconds is not None:
            made["train_joules"] = self._watts_above_idle(physical, seconds) * seconds
        return made

    def _operations(self) -> tuple[float, int]:
        """Returns the operations of a forward pass, and the samples of a training."""
        flops = self._device.forward_flops
        if flops is None or not self._samples:
            costs = self._model.costs()
            return flops or costs.forward_flops, self._samples or costs.samples
        return flops, self._samples

    def _watts_above_idle(self, physical: Mapping[str, float], seconds: float) -> float:
        """Returns what a training draws beside what the device draws anyway."""
        active, idle = self._figure("active_watts"), physical.get("idle_watts", 0.0)
        if active is None:
            raise ConfigError(
                f"{self.what} has a training of {seconds:g} s and no joules; state train_joules, or active_watts."
            )
        if not active > idle:
            raise ConfigError(
                f"{self.what} has active_watts = {active:g}, which is not above idle_watts = {idle:g}; state what it "
                "draws in all while it trains."
            )
        self._notes.append(f"train_joules: ({active:g} W − {idle:g} W idle) × {seconds:.6g} s")
        return active - idle


def resolve_devices(experiment: "Experiment", given: Sequence[Any]) -> tuple[DeviceClass, ...]:
    """Returns classes of devices with their numbers in units and slots, and with names.

    Args:
        experiment: Without the classes: its scale, its model and its data count.
        given: The classes as the user gave them.

    Raises:
        ConfigError: A class can't be resolved, or two have one name.
    """
    samples, clients = experiment.data.samples_per_client, experiment.clients
    parts = experiment.build("model"), experiment.build("data")
    model = MeasuredModel(*parts, seed=experiment.seed, clients=clients, wanted=samples)
    kappa = experiment.cost.train if isinstance(experiment.cost.train, int) else None
    stated = [parse_device(place, device) for place, device in enumerate(given)]
    found = tuple(
        Resolution(device, experiment.scale, model, place=place, samples=samples, kappa=kappa).resolve()
        for place, device in enumerate(stated)
    )
    names = [device.name for device in found]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{names.count(name)} device classes have the name '{name}'; give each one of its own.")
    return found
