"""INA3221, the power monitor of Jetson boards and of many others (hwmon of Linux)."""

from dataclasses import dataclass
from pathlib import Path

from fallow.calibration.meters.base import read_number, read_words

CHANNELS = (1, 2, 3)
UNCONNECTED = "NC"
INPUT = "_IN"
"""How the label of the rail that feeds the whole module ends: VDD_IN, POM_5V_IN."""


@dataclass(frozen=True)
class Rail:
    """A channel of the monitor.

    Attributes:
        folder: The folder of the monitor.
        channel: From 1 to 3.
        label: Which rail the board's maker connected; the channel where it says nothing.
    """

    folder: Path
    channel: int
    label: str

    def watts(self) -> float:
        """Returns the power now: millivolts × milliamperes.

        Raises:
            MeterError: The monitor does not answer.
        """
        millivolts = read_number(self.folder / f"in{self.channel}_input")
        return millivolts * read_number(self.folder / f"curr{self.channel}_input") / 1e6


@dataclass(frozen=True)
class Ina3221:
    """The rails of all monitors, or only the one that feeds the others.

    Attributes:
        rails: What is added up.
        name: Its name in the table of meters.
        window: The seconds of work that it resolves well.
        interval: The seconds from one reading to the next.
    """

    rails: tuple[Rail, ...]
    name: str = "ina3221"
    window: float = 1.0
    interval: float = 0.02

    @property
    def covers(self) -> str:
        """The rails, by their labels."""
        return ", ".join(rail.label for rail in self.rails)

    def watts(self) -> float:
        """Returns the power of the rails now.

        Raises:
            MeterError: A monitor does not answer.
        """
        return sum(rail.watts() for rail in self.rails)


def find_ina3221(sysfs: Path) -> Ina3221 | None:
    """Returns the monitors of this machine; None if it has none.

    Rails that another one feeds are left out, so that nothing is counted twice.

    Args:
        sysfs: Usually ``/sys``.

    Raises:
        MeterError: A monitor is there and does not answer.
    """
    rails: list[Rail] = []
    for folder in sorted((sysfs / "class" / "hwmon").glob("hwmon*")):
        if (folder / "name").exists() and read_words(folder / "name") == "ina3221":
            rails += _connected(folder)
    feeding = [rail for rail in rails if rail.label.upper().endswith(INPUT)]
    if not rails:
        return None
    found = Ina3221(tuple(feeding or rails))
    found.watts()
    return found


def _connected(folder: Path) -> list[Rail]:
    """Returns the channels of a monitor that are connected and switched on."""
    rails = []
    for channel in CHANNELS:
        files = [folder / f"{what}{channel}_{part}" for what, part in (("in", "enable"), ("in", "label"))]
        if not (folder / f"in{channel}_input").exists() or not (folder / f"curr{channel}_input").exists():
            continue
        on = not files[0].exists() or read_number(files[0])
        label = read_words(files[1]) if files[1].exists() else f"channel {channel}"
        if on and label != UNCONNECTED:
            rails.append(Rail(folder, channel, label))
    return rails
