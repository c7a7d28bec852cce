"""A battery that discharges (power supply class of Linux): what it gives is what this machine takes."""

from dataclasses import dataclass
from pathlib import Path

from fallow.calibration.meters.base import MeterError, read_number, read_words

COVERS = "the whole machine"
JOULES_PER_MICROWATT_HOUR = 3600 / 1e6


@dataclass(frozen=True)
class BatteryPower:
    """Batteries that say the power they give.

    Attributes:
        folders: One a battery.
        name: Its name in the table of meters.
        covers: What its power goes to, in words.
        window: The seconds of work that it resolves well; many batteries say something new every few seconds only.
        interval: The seconds from one reading to the next.
    """

    folders: tuple[Path, ...]
    name: str = "battery"
    covers: str = COVERS
    window: float = 15.0
    interval: float = 0.5

    def watts(self) -> float:
        """Returns the power that the batteries give now.

        Raises:
            MeterError: One can't be read, or charges.
        """
        check_discharging(self.folders)
        return sum(map(_watts, self.folders))


@dataclass(frozen=True)
class BatteryEnergy:
    """Batteries that say the energy they hold, and no power. Their steps are large, so this takes long.

    Attributes:
        folders: One a battery.
        name: Its name in the table of meters.
        covers: What its energy goes to, in words.
        window: The seconds of work that it resolves well.
    """

    folders: tuple[Path, ...]
    name: str = "battery"
    covers: str = COVERS
    window: float = 120.0

    def read(self) -> tuple[int, ...]:
        """Returns the microwatt-hours in each battery.

        Raises:
            MeterError: One can't be read, or charges.
        """
        check_discharging(self.folders)
        return tuple(read_number(folder / "energy_now") for folder in self.folders)

    def joules(self, before: tuple[int, ...], after: tuple[int, ...]) -> float:
        """Returns the joules that the batteries gave between two readings.

        Args:
            before: The earlier reading.
            after: The later one.

        Raises:
            MeterError: They hold more than before.
        """
        if sum(after) > sum(before):
            raise MeterError(
                f"{self.folders[0] / 'energy_now'} rose from {sum(before)} to {sum(after)} µWh while it discharged; "
                "choose another meter, or state watts (--watts)."
            )
        return (sum(before) - sum(after)) * JOULES_PER_MICROWATT_HOUR


def find_battery(sysfs: Path) -> BatteryPower | BatteryEnergy | None:
    """Returns the batteries that feed this machine; None if it has none that say power or energy.

    Only batteries count: what Linux says of a charger is often what was agreed with it, not what it gives.

    Args:
        sysfs: Usually ``/sys``.

    Raises:
        MeterError: A battery is there and charges, or can't be read.
    """
    folders = [folder for folder in sorted((sysfs / "class" / "power_supply").glob("*")) if _feeds(folder)]
    found: BatteryPower | BatteryEnergy
    if powered := tuple(folder for folder in folders if _says_power(folder)):
        found = BatteryPower(powered)
        found.watts()
    elif counted := tuple(folder for folder in folders if (folder / "energy_now").exists()):
        found = BatteryEnergy(counted)
        found.read()
    else:
        return None
    return found


def check_discharging(folders: tuple[Path, ...]) -> None:
    """Checks that batteries feed this machine: one discharges and none charges.

    Args:
        folders: One a battery.

    Raises:
        MeterError: They don't.
    """
    states = {folder: read_words(folder / "status") for folder in folders}
    charging = [folder for folder, state in states.items() if state == "Charging"]
    if not charging and "Discharging" in states.values():
        return
    folder = (charging or list(states))[0]
    raise MeterError(
        f"The battery {folder.name} is in the state '{states[folder]}', so its power is not what this machine takes; "
        "unplug the charger, or state watts (--watts)."
    )


def _feeds(folder: Path) -> bool:
    """Returns whether a power supply is a battery of the machine itself, not of a mouse."""
    if not (folder / "type").exists() or read_words(folder / "type") != "Battery":
        return False
    return not (folder / "scope").exists() or read_words(folder / "scope") != "Device"


def _says_power(folder: Path) -> bool:
    pair = (folder / "current_now").exists() and (folder / "voltage_now").exists()
    return pair or (folder / "power_now").exists()


def _watts(folder: Path) -> float:
    """Returns the power of a battery: microwatts, or microamperes × microvolts; some count what leaves as negative."""
    if (folder / "power_now").exists():
        return abs(read_number(folder / "power_now")) / 1e6
    return abs(read_number(folder / "current_now")) * read_number(folder / "voltage_now") / 1e12
