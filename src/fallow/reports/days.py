"""Harvest, consumption and state of charge of the mean client, folded by hour of the day and by month of the year."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.errors import FallowError
from fallow.plugins.nested import nested
from fallow.reports.activity import read_events
from fallow.reports.harvests import Files, scale_of
from fallow.reports.replay import build_physics, live_again, most_epochs
from fallow.reports.runs import ReportedRun
from fallow.simulation.world import World

HOUR, DAY = 3600.0, 86_400.0
MOST_SLOTS = 20_000
"""Slots that are lived through again for a day's course: two years of hours, and a second or two."""

FIRST_DAY = np.datetime64("2025-01-01T00:00:00")
"""When a run begins that has no calendar: at midnight, at the beginning of a year."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Course:
    """Energy by hour of the day or by month, of the mean client.

    Attributes:
        at: The hours (0 to 23) or months (1 to 12) that the run has, shape (K,), int64.
        harvested: Units an hour, before the cap, shape (K,), float64.
        consumed: Units an hour, for any use, shape (K,), float64.
        charge: Share of the capacities that is stored, shape (K,), float64.
    """

    at: NDArray[np.int64]
    harvested: Numbers
    consumed: Numbers
    charge: Numbers


@dataclass(frozen=True, eq=False)
class Rows:
    """What all clients together harvest, consume and store in equal stretches of time.

    Attributes:
        seconds: How long a stretch is.
        harvested: Units, shape (R,), float64.
        consumed: Units, shape (R,), float64.
        stored: Units at the end of each stretch, shape (R,), float64.
    """

    seconds: float
    harvested: Numbers
    consumed: Numbers
    stored: Numbers


def fold(rows: Rows, at: NDArray[np.int64], clients: int, capacity: int) -> Course:
    """Returns the means over stretches that belong to the same hour or month.

    Args:
        rows: In order.
        at: The hour or month of each, shape (R,), int64.
        clients: N.
        capacity: Units that all batteries together can store.

    Examples:
        >>> rows = Rows(1800.0, np.array([3.0, 1.0, 5.0]), np.array([0.0, 0.0, 4.0]), np.array([3.0, 4.0, 5.0]))
        >>> course = fold(rows, np.array([0, 0, 1]), clients=2, capacity=10)
        >>> course.at.tolist(), course.harvested.tolist(), course.charge.tolist()
        ([0, 1], [2.0, 5.0], [0.35, 0.5])
    """
    present, place, count = np.unique(at, return_inverse=True, return_counts=True)

    def mean(values: Numbers) -> Numbers:
        return np.bincount(place, weights=values, minlength=present.size) / count

    hourly = HOUR / rows.seconds / clients
    charge = mean(rows.stored) / capacity if capacity else np.zeros(present.size)
    return Course(present, mean(rows.harvested) * hourly, mean(rows.consumed) * hourly, charge)


def day_course(run: ReportedRun, files: Files, *, replay: bool) -> tuple[Course | None, str]:
    """Returns the course of the mean day, and a sentence where there is none, or where it is of a part of the run.

    Args:
        run: A finished run that states how long a slot is.
        files: What a harvest may be read from.
        replay: Whether slots may be lived through again where an epoch is longer than an hour.
    """
    slot = scale_of(run).slot_seconds
    slots, epochs = run.settings["slots_per_epoch"], len(run.epochs["stored"])
    if slot >= DAY:
        return None, "A slot is a day or longer, so a day has no course."
    if slot * slots <= HOUR:
        return _folded(run, _epoch_rows(run), _hour_of), ""
    if not replay:
        return None, "The course of a day is drawn of the runs that are kept in detail."
    if not run.has_events:
        return None, "The course of a day needs the events, which this run did not keep (output.events = false)."
    lived = min(epochs, most_epochs(run), MOST_SLOTS // slots)
    days = int(lived * slots * slot // DAY)
    if lived < epochs:
        lived = int(days * DAY // (slots * slot))
    if not lived:
        return None, f"The course of a day is not drawn for as many as {run.settings['clients']:,} clients."
    try:
        rows = _slot_rows(run, files, lived)
    except (FallowError, KeyError, TypeError, ValueError) as error:  # the last three: a config that somebody has edited
        return None, f"The course of a day is not known. {error}"
    part = f"The course of a day is that of the first {days:,} days." if lived < epochs else ""
    return _folded(run, rows, _hour_of), part


def year_course(run: ReportedRun) -> tuple[Course | None, str]:
    """Returns the course of a year by months, and a sentence where there is none. An epoch counts where it begins.

    Args:
        run: A finished run that states how long a slot is.
    """
    rows = _epoch_rows(run)
    days = rows.seconds * rows.stored.size / DAY
    if rows.seconds > 31 * DAY:
        return None, "An epoch is longer than a month, so a year has no course."
    course = _folded(run, rows, _month_of)
    if course.at.size < 2:
        return None, f"The run spans {days:,.3g} days, so there is no course of a year."
    return course, ""


def clock_of(run: ReportedRun) -> tuple[np.datetime64 | None, str]:
    """Returns what the clock shows when a run begins, and whose clock it is; None where its harvest has no calendar.

    Of several harvests in one run, the first that has a calendar counts.

    Args:
        run: Its settings.
    """
    table = nested(run.settings)
    energy = table.get("energy", {})
    own = [device["energy"] for device in table.get("device") or () if device.get("energy")]
    for source in (energy, *energy.get("sources", ()), *own):
        text = source.get("start")
        try:
            begin = datetime.fromisoformat(text) if isinstance(text, str) and text else None
        except ValueError:  # a model that means something else by it
            begin = None
        if begin is not None:
            zone = begin.tzinfo or source.get("timezone") or ""
            return np.datetime64(begin.replace(tzinfo=None), "ms"), str(zone)
    return None, ""


def _folded(run: ReportedRun, rows: Rows, part_of: Callable[[NDArray[np.datetime64]], NDArray[np.int64]]) -> Course:
    seconds = np.arange(rows.stored.size) * rows.seconds
    begin, _ = clock_of(run)
    begins = (FIRST_DAY if begin is None else begin) + np.round(seconds * 1000).astype("m8[ms]")
    capacity = int(build_physics(run).capacity.sum(dtype=np.int64))
    return fold(rows, part_of(begins), run.settings["clients"], capacity)


def _hour_of(moments: NDArray[np.datetime64]) -> NDArray[np.int64]:
    return moments.astype("M8[h]").astype(np.int64) % 24


def _month_of(moments: NDArray[np.datetime64]) -> NDArray[np.int64]:
    return moments.astype("M8[M]").astype(np.int64) % 12 + 1


def _epoch_rows(run: ReportedRun) -> Rows:
    """Returns what the table of epochs tells."""
    table = run.epochs
    seconds = scale_of(run).slot_seconds * run.settings["slots_per_epoch"]
    return Rows(seconds, table["harvested"], np.diff(table["energy_total"], prepend=0.0), table["stored"])


def _slot_rows(run: ReportedRun, files: Files, epochs: int) -> Rows:
    """Returns what a replay tells of each slot."""
    count = epochs * run.settings["slots_per_epoch"]
    sums = np.zeros((3, count))  # harvested, lost and stored until the end of each slot

    def add(slot: int, world: World, _harvested: NDArray[Any]) -> None:
        state = world.state
        lost = state.overflow.sum() + state.conversion_loss.sum() + state.leakage.sum()
        sums[:, slot] = state.harvested.sum(), lost, state.battery.sum(dtype=np.int64)

    live_again(run, read_events(run, ("select", "start"), epochs), files, range(epochs), add)
    first = build_physics(run).initial.sum(dtype=np.int64)
    harvested, lost, gained = (np.diff(row, prepend=start) for row, start in zip(sums, (0, 0, first), strict=True))
    return Rows(scale_of(run).slot_seconds, harvested, harvested - lost - gained, sums[2])
