"""Watts from a signal: any object that says its power at a time, such as one of Vessim."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import FunctionType
from typing import Annotated, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.energy.base import Harvest
from fallow.energy.clock import parse_moment, parse_zone
from fallow.energy.scale import Scale
from fallow.energy.steady import Steady
from fallow.errors import ConfigError, EnergyError
from fallow.plugins.names import import_attribute
from fallow.plugins.objects import name_of
from fallow.plugins.wording import in_words

NO_NAME = "…"
"""What ``fallow config --energy signal`` writes where the name belongs."""

Factor = Annotated[float, Field(ge=0)]


@runtime_checkable
class HasAt(Protocol):
    """Anything that says its power at a time."""

    def at(self, time: Any) -> float:
        """Returns the watts at a time.

        Args:
            time: A timedelta since the run's start, or a datetime with its zone, as `Signal.start` decides.
        """
        ...


@dataclass(frozen=True)
class Signal:
    """Watts of any object with a method at(time), such as a Vessim signal.

    The object must answer the same for the same time. It is asked at the beginning of each slot, and every `step`
    seconds in it; what it says holds until it is asked again.

    Attributes:
        of: The object, or a function without arguments that returns it, as ``module:attribute``. In Python the function
            itself may be given.
        start: A number is the elapsed seconds at which the run begins, and the object is asked with a timedelta. A
            text is a moment, and the object is asked with a datetime.
        timezone: The zone of a `start` without offset, and of the datetimes.
        step: Most seconds from one question to the next.
        period: Seconds after which the signal begins again, and over which its mean is taken; 0 is never.
        factor: What the watts are multiplied by: one number, or one for each client.

    Examples:
        >>> class Lamp:
        ...     def at(self, time):
        ...         return 2.0
        >>> model = Signal(of=Lamp).at_scale(Scale(slot_seconds=60, unit_joules=50))
        >>> [int(slot[0]) for slot in model.prepare(seed=0, clients=1, slots_per_epoch=5)(0)]
        [2, 2, 3, 2, 3]
    """

    of: Annotated[
        str, Field(min_length=1, description="object with at(time), or function that returns it: module:attribute")
    ]
    start: Annotated[
        float | str,
        Field(description="elapsed seconds when the run begins, asked with a timedelta; a text: moment, a datetime"),
    ] = 0.0
    timezone: Annotated[
        str, Field(min_length=1, description="zone of a start without offset: UTC, a name such as Europe/Rome, +01:00")
    ] = "UTC"
    step: Annotated[float, Field(gt=0, description="most seconds from one question to the next")] = 60.0
    period: Annotated[
        float, Field(ge=0, description="seconds after which it begins again, and of its mean; 0 is never")
    ] = 0.0
    factor: Annotated[
        Factor | tuple[Factor, ...],
        Field(description="what the watts are multiplied by; one number, or one for each client"),
    ] = 1.0

    def __post_init__(self) -> None:
        if isinstance(self.of, type | FunctionType):
            object.__setattr__(self, "of", name_of(self.of, {}, "signal"))  # as a config names it
        if not isinstance(self.of, str):
            raise ConfigError(
                f"The signal can't be an object of {type(self.of).__name__}, which no config can name; give a function "
                "that returns it, or its name as module:attribute."
            )

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Harvest:
        """Raises `ConfigError`, because watts are no units: `at_scale` returns the model that can be prepared.

        Args:
            seed: The seed of the run.
            clients: N.
            slots_per_epoch: S.
        """
        return self.at_scale(Scale()).prepare(seed, clients, slots_per_epoch)

    def at_scale(self, scale: Scale) -> Steady:
        """Returns the signal as a model in units.

        Args:
            scale: Of the run.

        Raises:
            ConfigError: Slot or unit are not stated, the object can't be found, or it has no method at.
        """
        scale.require("The signal")
        ask = self._asker()
        ask(0.0)  # a signal that can't answer says so before anything runs
        known = [0.0]

        def joules(begin: float, length: float) -> float:
            parts = max(1, int(np.ceil(length / self.step - 1e-9)))
            return sum(ask(begin + part * length / parts) for part in range(parts)) * length / parts

        def totals(slots: NDArray[np.int64]) -> NDArray[np.float64]:
            while len(known) <= slots.max():
                known.append(known[-1] + joules((len(known) - 1) * scale.slot_seconds, scale.slot_seconds))
            return np.array(known)[slots][:, None]

        def mean() -> NDArray[np.float64]:
            if not self.period:
                raise ConfigError(
                    "The mean of a signal is not known without its length; set energy.period to the seconds after "
                    "which it begins again."
                )
            return np.array([joules(0.0, self.period) / self.period * scale.slot_seconds])

        factor = np.asarray(self.factor, dtype=np.float64) / scale.unit_joules
        return Steady(totals, float(factor) if factor.ndim == 0 else tuple(factor.tolist()), mean, "The signal")

    def _asker(self) -> Callable[[float], float]:
        """Returns a function from the seconds since the run's start to watts, checked."""
        signal = self._find()
        begin: timedelta | datetime
        if isinstance(self.start, str):
            zone = parse_zone("energy.timezone", self.timezone)
            begin = parse_moment("energy.start", self.start, zone).astimezone(zone)
        else:
            begin = timedelta(seconds=self.start)

        def ask(seconds: float) -> float:
            elapsed = timedelta(seconds=seconds % self.period if self.period else seconds)
            time = _later(begin, elapsed)
            try:
                watts = float(signal.at(time))
            except Exception as error:  # whatever the user's object raises is the reason to show
                raise EnergyError(
                    f"The signal '{self.of}' has no answer at {time}: {in_words(error)}; end the run before, or set "
                    "energy.period to where it begins again."
                ) from error
            if not (np.isfinite(watts) and watts >= 0):
                raise EnergyError(
                    f"The signal '{self.of}' gives {watts:g} W at {time}; watts are finite and 0 or more."
                )
            return watts

        return ask

    def _find(self) -> HasAt:
        if self.of == NO_NAME:
            raise ConfigError("There is no signal yet; set energy.of to module:attribute, an object with at(time).")
        if ":" not in self.of:
            raise ConfigError(f"energy.of = '{self.of}' is no name of an object; write it as module:attribute.")
        found = import_attribute(self.of, "signal")
        if isinstance(found, type) or (callable(found) and not isinstance(found, HasAt)):
            try:
                found = found()
            except Exception as error:  # whatever the user's function raises is the reason to show
                raise ConfigError(f"The signal '{self.of}' can't be made: {in_words(error)}.") from error
        if not isinstance(found, HasAt):
            raise ConfigError(
                f"The signal '{self.of}' is a {type(found).__name__} without a method at(time); give one."
            )
        return found


def _later(begin: timedelta | datetime, elapsed: timedelta) -> timedelta | datetime:
    """Returns a time some seconds later; a datetime passes through UTC, because clocks change in its zone."""
    if isinstance(begin, timedelta):
        return begin + elapsed
    return (begin.astimezone(parse_zone("energy.timezone", "UTC")) + elapsed).astimezone(begin.tzinfo)
