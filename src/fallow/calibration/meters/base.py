"""What a meter is: a counter of joules, or something that says watts now."""

from pathlib import Path
from typing import Protocol, runtime_checkable

from fallow.errors import FallowError


class MeterError(FallowError):
    """A meter can't be read, or says what can't be."""


class Counter(Protocol):
    """A counter of energy, which is read before and after some work."""

    @property
    def name(self) -> str:
        """Its name in the table of meters."""
        ...

    @property
    def covers(self) -> str:
        """What its energy goes to, in words."""
        ...

    @property
    def window(self) -> float:
        """The seconds of work that it resolves well."""
        ...

    def read(self) -> tuple[int, ...]:
        """Returns what the counter shows now, in its own unit.

        Raises:
            MeterError: It can't be read.
        """
        ...

    def joules(self, before: tuple[int, ...], after: tuple[int, ...]) -> float:
        """Returns the joules between two readings.

        Args:
            before: The earlier reading.
            after: The later one.

        Raises:
            MeterError: The readings contradict each other.
        """
        ...


@runtime_checkable
class PowerMeter(Protocol):
    """A meter of power, which is asked again and again while some work goes on."""

    @property
    def name(self) -> str:
        """Its name in the table of meters."""
        ...

    @property
    def covers(self) -> str:
        """What its power goes to, in words."""
        ...

    @property
    def window(self) -> float:
        """The seconds of work that it resolves well."""
        ...

    @property
    def interval(self) -> float:
        """The seconds from one reading to the next."""
        ...

    def watts(self) -> float:
        """Returns the power now.

        Raises:
            MeterError: It can't be read.
        """
        ...


Meter = Counter | PowerMeter


def read_words(path: Path) -> str:
    """Returns the text of a file of sysfs, without blanks around it.

    Args:
        path: The file.

    Raises:
        MeterError: It can't be read; the error says how to allow it.
    """
    try:
        return path.read_text(encoding="utf-8").strip()
    except PermissionError:
        raise MeterError(
            f"{path} can't be read by this user: run as root, allow it with `sudo chmod a+r {path}`, or state watts "
            "(--watts)."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise MeterError(f"{path} can't be read: {reason}; choose another meter, or state watts (--watts).") from None


def read_number(path: Path) -> int:
    """Returns the whole number in a file of sysfs.

    Args:
        path: The file.

    Raises:
        MeterError: It can't be read, or holds no number.
    """
    words = read_words(path)
    try:
        return int(words)
    except ValueError:
        raise MeterError(
            f"{path} says '{words[:40]}', which is no whole number; choose another meter, or state watts (--watts)."
        ) from None
