"""RAPL, the energy counters of Intel's and AMD's processors (powercap of Linux)."""

import re
from dataclasses import dataclass
from pathlib import Path

from fallow.calibration.meters.base import MeterError, read_number, read_words

ZONE = re.compile(r"intel-rapl:\d+(?P<inner>:\d+)?")
"""The folder of a zone; AMD's processors have the same name. A zone within another has two numbers."""


@dataclass(frozen=True)
class Zone:
    """A counter of microjoules that begins again at 0 after its largest number.

    Attributes:
        path: Its folder.
        most: Its largest number, in microjoules.
    """

    path: Path
    most: int

    def used(self, before: int, after: int) -> int:
        """Returns the microjoules between two readings, between which the counter began again at most once.

        Args:
            before: The earlier reading.
            after: The later one.

        Raises:
            MeterError: The readings can't be of this counter.

        Examples:
            >>> Zone(Path("intel-rapl:0"), most=1000).used(990, 20)
            30
        """
        used = after - before if after >= before else after - before + self.most
        if used < 0:
            raise MeterError(
                f"{self.path / 'energy_uj'} went from {before} to {after}, past its largest number {self.most}; choose "
                "another meter, or state watts (--watts)."
            )
        return used


@dataclass(frozen=True)
class Rapl:
    """The counters of all processor packages, and of the memory that has its own.

    Attributes:
        zones: The counters, which do not overlap.
        name: Its name in the table of meters.
        covers: What its energy goes to, in words.
        window: The seconds of work that it resolves well; it counts about every millisecond.
    """

    zones: tuple[Zone, ...]
    name: str = "rapl"
    covers: str = "processor and memory"
    window: float = 1.0

    def read(self) -> tuple[int, ...]:
        """Returns the microjoules of each zone.

        Raises:
            MeterError: A counter can't be read.
        """
        return tuple(read_number(zone.path / "energy_uj") for zone in self.zones)

    def joules(self, before: tuple[int, ...], after: tuple[int, ...]) -> float:
        """Returns the joules between two readings.

        Args:
            before: The earlier reading.
            after: The later one.

        Raises:
            MeterError: The readings can't be of these counters.
        """
        return sum(map(Zone.used, self.zones, before, after)) / 1e6


def find_rapl(sysfs: Path) -> Rapl | None:
    """Returns the counters of this machine's processors; None if it has none.

    A package counts what is in it (cores, graphics), so those zones are left out; memory is not in it. The zone psys is
    the whole platform with the packages, and serves where there is nothing else.

    Args:
        sysfs: Usually ``/sys``.

    Raises:
        MeterError: The counters are there and can't be read.
    """
    named: dict[str, list[Path]] = {"package": [], "dram": [], "psys": []}
    for folder in sorted((sysfs / "class" / "powercap").glob("intel-rapl:*")):
        zone = ZONE.fullmatch(folder.name)
        if zone is None or not (folder / "energy_uj").exists():
            continue
        kind = read_words(folder / "name").partition("-")[0]
        if kind in named and (kind == "dram" or not zone["inner"]):
            named[kind].append(folder)
    folders = [*named["package"], *named["dram"]] or named["psys"]
    if not folders:
        return None
    found = Rapl(tuple(Zone(folder, read_number(folder / "max_energy_range_uj")) for folder in folders))
    found.read()
    return found
