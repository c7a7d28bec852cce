"""Meters: where the level of a real battery is read."""

import os
import signal
import stat
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fallow.flower.batteries.base import BatteryError

SECONDS = 10.0
"""How long a meter has by default: a node that says nothing holds up the round of all others."""

PAUSE = 0.05
"""Seconds between two looks at a pipe."""

LONGEST = 4096
"""The bytes that a level has at most."""

NONBLOCK = os.O_NONBLOCK if os.name == "posix" else 0
"""Opens a pipe that nobody writes to without waiting for somebody."""


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
    """A meter: a file that holds a number; of a pipe or a device, the first line that comes.

    Attributes:
        path: The file.
        timeout: Seconds that a pipe or a device has to give it.
    """

    path: Path
    timeout: float = SECONDS

    def __call__(self) -> float:
        """Returns the number."""
        try:
            content = _read(self.path, self.timeout)
        except TimeoutError as error:
            raise BatteryError(
                f"The battery's level can't be read: {self.path} gave none in {self.timeout:g} seconds."
            ) from error
        except OSError as error:
            raise BatteryError(f"The battery's level can't be read from {self.path}: {error.strerror}.") from error
        return _number(content, str(self.path))


@dataclass(frozen=True)
class MeterCommand:
    """A meter: a command that prints a number. It is run without a shell.

    Attributes:
        command: Its words.
        timeout: Seconds that it has; then it is ended, and whatever it started.
    """

    command: tuple[str, ...]
    timeout: float = SECONDS

    def __call__(self) -> float:
        """Returns the number."""
        words = " ".join(self.command)
        try:
            process = subprocess.Popen(  # noqa: S603  # the node's owner wrote it
                self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            reason = error.strerror or error
            raise BatteryError(f"The battery's level can't be read: `{words}` can't be started: {reason}.") from error
        with process:
            try:
                content, _ = process.communicate(timeout=self.timeout)
            except subprocess.TimeoutExpired as error:
                raise BatteryError(
                    f"The battery's level can't be read: `{words}` took more than {self.timeout:g} seconds, and was "
                    "ended."
                ) from error
            finally:  # not the command alone: its children would hold the pipe, and go on
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        if process.returncode:
            raise BatteryError(f"The battery's level can't be read: `{words}` ended with code {process.returncode}.")
        return _number(content, f"`{words}`")


def _read(path: Path, seconds: float) -> bytes:
    """Returns what a file holds, or the first line of a pipe or a device. Raises TimeoutError if none comes."""
    descriptor = os.open(path, os.O_RDONLY | NONBLOCK)
    try:
        whole = stat.S_ISREG(os.fstat(descriptor).st_mode)
        content, deadline = b"", time.monotonic() + seconds
        while True:
            try:
                part = os.read(descriptor, LONGEST)
            except BlockingIOError:  # somebody has opened the pipe, and written nothing yet
                part = b""
            content += part
            ended = not part and (whole or content)
            if ended or (not whole and b"\n" in content) or len(content) >= LONGEST:
                return content if whole else content.partition(b"\n")[0]
            if not part:
                if time.monotonic() >= deadline:
                    raise TimeoutError
                time.sleep(PAUSE)
    finally:
        os.close(descriptor)


def _number(content: bytes, source: str) -> float:
    text = content.decode("utf-8", "replace").strip()
    try:
        return float(text)
    except ValueError as error:
        raise BatteryError(f"{source} gave '{text[:60]}' as the battery's level, which is no number.") from error
