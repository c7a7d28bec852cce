"""The energy of some work, by either kind of meter."""

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fallow.calibration.meters.base import Counter, Meter, MeterError, PowerMeter


class Spent(NamedTuple):
    """What some work took."""

    joules: float
    seconds: float


def record(meter: Meter, work: Callable[[], None]) -> Spent:
    """Returns the joules and the seconds of some work.

    A counter is read before and after. A power meter is read in a thread beside the work; its watts are integrated by
    the trapezoid rule.

    Args:
        meter: What is read.
        work: What is done.

    Raises:
        MeterError: The meter stops answering.
    """
    return _sample(meter, work) if isinstance(meter, PowerMeter) else _count(meter, work)


def _count(meter: Counter, work: Callable[[], None]) -> Spent:
    before = meter.read()
    begin = time.perf_counter()
    work()
    seconds = time.perf_counter() - begin
    return Spent(meter.joules(before, meter.read()), seconds)


def _sample(meter: PowerMeter, work: Callable[[], None]) -> Spent:
    sampler = _Sampler(meter)
    sampler.take()
    thread = threading.Thread(target=sampler.run, name="fallow-meter", daemon=True)
    thread.start()
    begin = time.perf_counter()
    try:
        work()
        seconds = time.perf_counter() - begin
    finally:
        sampler.ended.set()
        thread.join()
    sampler.take()
    return Spent(mean_power(sampler.times, sampler.watts) * seconds, seconds)


def mean_power(times: list[float], watts: list[float]) -> float:
    """Returns the mean power between the first and the last reading, by the trapezoid rule.

    Args:
        times: When each reading was made, in seconds, rising.
        watts: The readings.

    Examples:
        >>> mean_power([0.0, 1.0, 3.0], [2.0, 4.0, 4.0])
        3.6666666666666665
    """
    return float(np.trapezoid(watts, times) / (times[-1] - times[0]))


class _Sampler:
    """Reads a power meter again and again, in a thread, until it is told to end.

    Attributes:
        times: When each reading was made, in seconds.
        watts: The readings.
        ended: Set when the work is done.
    """

    def __init__(self, meter: PowerMeter) -> None:
        self.times: list[float] = []
        self.watts: list[float] = []
        self.ended = threading.Event()
        self._meter = meter
        self._error: MeterError | None = None

    def take(self) -> None:
        """Makes one reading; raises MeterError, also for a reading that failed in the thread."""
        if self._error is not None:
            raise self._error
        asked = time.perf_counter()
        power = self._meter.watts()
        self.times.append((asked + time.perf_counter()) / 2)  # a slow answer is of about the middle
        self.watts.append(power)

    def run(self) -> None:
        """Makes readings until the work is done, or one fails."""
        while not self.ended.wait(self._meter.interval):
            try:
                self.take()
            except MeterError as error:  # the thread that waits raises it
                self._error = MeterError(f"The meter {self._meter.name} stopped answering: {error}")
                return
