"""Meters: where the level of a real battery is read."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from fallow.flower.batteries.base import BatteryError


@dataclass(frozen=True)
class PowerSupply:
    """A meter: the percentage that Linux tells of a battery (power supply class)."""

    name: str = "BAT0"
    root: Path = Path("/sys/class/power_supply")

    def __call__(self) -> float:
        """Returns the charge in percent."""
        return MeterFile(self.root / self.name / "capacity")()


@dataclass(frozen=True)
class MeterFile:
    """A meter: a file that holds a number."""

    path: Path

    def __call__(self) -> float:
        """Returns the number."""
        try:
            text = self.path.read_text(encoding="utf-8")
        except OSError as error:
            raise BatteryError(f"The battery's level can't be read from {self.path}: {error.strerror}.") from error
        return _number(text, str(self.path))


@dataclass(frozen=True)
class MeterCommand:
    """A meter: a command that prints a number. It is run without a shell."""

    command: tuple[str, ...]
    timeout: float = 10.0

    def __call__(self) -> float:
        """Returns the number."""
        words = " ".join(self.command)
        try:
            done = subprocess.run(  # noqa: S603  # the node's owner wrote it
                self.command, capture_output=True, text=True, timeout=self.timeout, check=True
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise BatteryError(f"The battery's level can't be read: `{words}` failed: {error}.") from error
        return _number(done.stdout, f"`{words}`")


def _number(text: str, source: str) -> float:
    try:
        return float(text.strip())
    except ValueError as error:
        raise BatteryError(
            f"{source} gave '{text.strip()[:60]}' as the battery's level, which is no number."
        ) from error
