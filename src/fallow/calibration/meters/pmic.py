"""The power chip of the Raspberry Pi 5, which says volts and amperes of its rails (vcgencmd)."""

import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass

from fallow.calibration.meters.base import MeterError

READING = re.compile(r"(\w+)_([AV])\b[^=\n]*=\s*([\d.]+)[AV]\b")
"""A line such as ``VDD_CORE_A current(7)=1.04A``."""

TIMEOUT = 5.0
"""Seconds after which a command that does not answer is given up."""


@dataclass(frozen=True)
class Pmic:
    """All rails of which the chip measures both volts and amperes.

    Attributes:
        command: The words of the command.
        name: Its name in the table of meters.
        covers: What its power goes to, in words.
        window: The seconds of work that it resolves well.
        interval: The seconds from one reading to the next; each starts a program, which takes power too.
    """

    command: tuple[str, ...]
    name: str = "pmic"
    covers: str = "the rails of the power chip"
    window: float = 2.0
    interval: float = 0.1

    def watts(self) -> float:
        """Returns the power of the rails now.

        Raises:
            MeterError: The command fails, does not answer or names no rail.
        """
        answer = _ask(self.command)
        power = rail_watts(answer)
        if power is None:
            raise MeterError(
                f"`{' '.join(self.command)}` says '{' '.join(answer.split())[:60]}', no volts and amperes of a rail; "
                "choose another meter, or state watts (--watts)."
            )
        return power


def find_pmic(vcgencmd: str) -> Pmic | None:
    """Returns the chip; None if the command is not there, or does not know the chip, as on a Raspberry Pi 4.

    Args:
        vcgencmd: The command.

    Raises:
        MeterError: The command is there and fails.
    """
    words = shlex.split(vcgencmd)
    if not words or shutil.which(words[0]) is None:
        return None
    command = (*words, "pmic_read_adc")
    return Pmic(command) if rail_watts(_ask(command)) is not None else None


def rail_watts(answer: str) -> float | None:
    r"""Returns the power of all rails of which an answer has volts and amperes; None if it has no such rail.

    Args:
        answer: What ``vcgencmd pmic_read_adc`` prints.

    Examples:
        >>> rail_watts("VDD_CORE_A current(7)=2.0A\nVDD_CORE_V volt(15)=0.75V\nEXT5V_V volt(24)=5.1V")
        1.5
    """
    found: dict[str, dict[str, float]] = {"A": {}, "V": {}}
    for rail, unit, value in READING.findall(answer):
        found[unit][rail] = float(value)
    both = found["A"].keys() & found["V"].keys()
    return sum(found["A"][rail] * found["V"][rail] for rail in sorted(both)) if both else None


def _ask(command: tuple[str, ...]) -> str:
    words = " ".join(command)
    try:
        done = subprocess.run(  # noqa: S603  # the machine's owner named it
            command, capture_output=True, text=True, timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        reason = f"did not answer within {TIMEOUT:g} seconds"
    except OSError as error:
        reason = f"can't be run: {error.strerror}"
    else:
        if done.returncode == 0:
            return done.stdout
        reason = f"failed: {' '.join((done.stderr or done.stdout).split())[:80] or f'exit code {done.returncode}'}"
    raise MeterError(f"`{words}` {reason}; choose another meter, or state watts (--watts).")
