"""Measuring work again and again: its seconds, and its joules where there is a meter."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from fallow.calibration.figures import Figure, in_digits, measured
from fallow.calibration.meters import Meter, MeterError
from fallow.calibration.meters.recording import record

WARM_UP = 3
"""Calls that are made first and not measured."""

LEAST_REPEATS = 3
"""Repeats that are made whatever they take, if so many are wanted."""

WINDOWS, IDLE_WINDOWS = 5, 3
"""How often energy is measured: of each work, and of none."""

Call = Callable[[], None]


@dataclass(frozen=True)
class Joules:
    """The energy of one call.

    Attributes:
        above_idle: Without what the machine takes anyway; at least 0.
        in_all: All of it.
    """

    above_idle: Figure
    in_all: Figure


def time_calls(call: Call, repeats: int, budget: float) -> Figure:
    """Returns the seconds of one call, the median of several, after some that warm up.

    Args:
        call: What is measured.
        repeats: How often, at most.
        budget: Seconds after which there are no further repeats, from the third on.
    """
    for _ in range(WARM_UP):
        call()
    seconds: list[float] = []
    while len(seconds) < repeats and (len(seconds) < LEAST_REPEATS or sum(seconds) < budget):
        begin = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begin)
    return measured(seconds, "s", f"median of {len(seconds)}")


def measure_idle(meter: Meter, window: float) -> Figure:
    """Returns the power without work, in watts: the median of a few windows of sleep.

    Args:
        meter: What is read.
        window: Seconds of each.

    Raises:
        MeterError: The meter stops answering.
    """
    spent = [record(meter, lambda: time.sleep(window)) for _ in range(IDLE_WINDOWS)]
    powers = [joules / seconds for joules, seconds in spent]
    return measured(powers, "W", f"{_by(meter)}, median of {len(powers)} windows without work")


def measure_joules(meter: Meter, call: Call, idle: Figure, window: float) -> Joules:
    """Returns the joules of one call: windows of many calls are measured, because one is too short for a meter.

    Args:
        meter: What is read.
        call: What is measured.
        idle: The power without work.
        window: The least seconds of a window; calls are made until they have passed.

    Raises:
        MeterError: The meter stops answering, or counts nothing.
    """
    in_all, above = [], []
    for _ in range(WINDOWS):
        calls = 0

        def repeat() -> None:
            nonlocal calls
            end = time.perf_counter() + window
            while not calls or time.perf_counter() < end:
                call()
                calls += 1

        joules, seconds = record(meter, repeat)
        in_all.append(joules / calls)
        above.append(max(0.0, joules - idle.value * seconds) / calls)
    if not median(in_all):
        raise MeterError(
            f"The meter {meter.name} counted 0 J in {in_digits(seconds)} s of work; choose another meter (--meter), a "
            "longer window (--window), or state watts (--watts)."
        )
    how = f"{_by(meter)}, median of {WINDOWS} windows of {in_digits(window)} s"
    return Joules(measured(above, "J", f"{how}, less {in_digits(idle.value)} W idle"), measured(in_all, "J", how))


def compute_joules(seconds: Figure, watts: float, idle_watts: float | None) -> Joules:
    """Returns the joules of one call by arithmetic, from watts that the user stated.

    Args:
        seconds: Of the call.
        watts: Of the machine at work.
        idle_watts: Of the machine without work; None leaves it in.

    Examples:
        >>> compute_joules(Figure(0.5, "s", "measured"), watts=3.2, idle_watts=1.2).above_idle
        1 J (computed: (3.2 W − 1.2 W) × 0.5 s)
    """
    took = f"{in_digits(seconds.value)} s"
    in_all = Figure(watts * seconds.value, "J", "computed", f"{in_digits(watts)} W × {took}")
    if not idle_watts:
        return Joules(in_all, in_all)
    how = f"({in_digits(watts)} W − {in_digits(idle_watts)} W) × {took}"
    return Joules(Figure((watts - idle_watts) * seconds.value, "J", "computed", how), in_all)


def _by(meter: Meter) -> str:
    return f"by {meter.name} ({meter.covers})"
