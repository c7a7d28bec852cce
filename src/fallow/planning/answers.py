"""The figures of a plan, as plain numbers: months, where the energy went, and the smallest sizes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fallow.energy import Scale
from fallow.planning.books import HARVESTED, WAYS, Books
from fallow.planning.node import Node
from fallow.planning.search import Tried, meets
from fallow.planning.weather import STEPS, Weather

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
YEAR = "year"
LOW, HIGH = 5, 95
"""Percentiles over the years, between which nine of ten lie."""


@dataclass(frozen=True)
class Month:
    """The device in a month, or in the whole year, over all simulated years.

    Attributes:
        month: Its name, or "year".
        trainings_per_day: Started, the mean over the years.
        low: The 5th percentile over the years.
        high: The 95th percentile over the years.
        updates_per_day: Received, the mean over the years.
        outage: Share of the time in which the device is not at work and lacks the energy for its next act.
        asleep: Share of the time in which it sleeps, below its cut-off.
        harvest_joules_per_day: The mean harvest.
        overflow: Share of the harvest that a full battery turns away.
    """

    month: str
    trainings_per_day: float
    low: float
    high: float
    updates_per_day: float
    outage: float
    asleep: float
    harvest_joules_per_day: float
    overflow: float


@dataclass(frozen=True)
class Way:
    """Where a part of the harvest went.

    Attributes:
        way: A use, a loss, or "stored", the change of what is stored.
        units: Over all simulated years; the ways add up to the harvest exactly.
        joules: The same in joules.
        share: Of the harvest.
    """

    way: str
    units: int
    joules: float
    share: float


@dataclass(frozen=True)
class Smallest:
    """The smallest size that grants the wish.

    Attributes:
        size: Joules of a battery, or a panel as a multiple of the given one; None if no size that was tried does.
        too_small: The next smaller size that was tried; None if there is none.
        reached: Trainings a day with `size`, by which the wish is judged; the most of all sizes if none grants it.
    """

    size: float | None
    too_small: float | None
    reached: float


@dataclass(frozen=True)
class CurvePoint:
    """The smallest battery for a panel.

    Attributes:
        panel: As a multiple of the given one.
        battery_joules: None if no battery that was tried grants the wish.
        reached: Trainings a day with it; with the best battery that was tried if none grants the wish.
    """

    panel: float
    battery_joules: float | None
    reached: float


def describe_months(tried: Tried, books: Books, weather: Weather, scale: Scale) -> tuple[Month, ...]:
    """Returns the figures of the given device by month, and of the year.

    Args:
        tried: The given device first.
        books: Of it.
        weather: What it lived through.
        scale: Of the plan.
    """
    days, monthly = weather.month_days, tried.monthly[0]
    described = []
    for month, name in enumerate(MONTHS):
        if days[month]:
            described.append(_month(name, monthly[:, month], books, [month], float(days[month]), scale))
    whole = np.nansum(monthly * days, axis=1) / days.sum()
    return (*described, _month(YEAR, whole, books, list(range(len(MONTHS))), float(days.sum()), scale))


def _month(
    name: str, trainings: NDArray[np.float64], books: Books, months: list[int], days: float, scale: Scale
) -> Month:
    years = trainings.size
    slots = years * int(books.slots[months].sum())
    harvested = int(books.entries[HARVESTED][:, months].sum())
    overflow = int(books.entries["overflow"][:, months].sum())
    low, high = np.percentile(trainings, [LOW, HIGH])
    return Month(
        month=name,
        trainings_per_day=float(trainings.mean()),
        low=float(low),
        high=float(high),
        updates_per_day=float(books.uploads[:, months].sum()) / years / days,
        outage=int(books.short[:, months].sum()) / slots,
        asleep=int(books.asleep[:, months].sum()) / slots,
        harvest_joules_per_day=scale.joules(harvested) / years / days,
        overflow=overflow / harvested if harvested else 0.0,
    )


def describe_energy(books: Books, scale: Scale) -> tuple[Way, ...]:
    """Returns where the energy of the given device went, over all years. The units add up to the harvest.

    Args:
        books: Of the device.
        scale: Of the plan.
    """
    harvested = int(books.entries[HARVESTED].sum())
    units = {way: int(books.entries[way].sum()) for way in WAYS}
    return tuple(Way(way, n, scale.joules(n), n / harvested if harvested else 0.0) for way, n in units.items())


def smallest_battery(node: Node, tried: Tried, panel: int) -> Smallest:
    """Returns the smallest battery that grants the wish with a panel.

    Args:
        node: The description.
        tried: All candidates.
        panel: Its size in 1024ths of the given one.
    """
    own = tried.candidates.panels == panel
    return _smallest(node, tried.candidates.batteries[own], tried.reached[own])


def smallest_panel(node: Node, tried: Tried) -> Smallest:
    """Returns the smallest panel that grants the wish with the given battery.

    Args:
        node: The description.
        tried: All candidates.
    """
    own = tried.candidates.batteries == node.device.capacity_joules
    return _smallest(node, tried.candidates.panels[own] / STEPS, tried.reached[own])


def describe_curve(node: Node, tried: Tried, panels: NDArray[np.int64]) -> tuple[CurvePoint, ...]:
    """Returns the smallest battery for each panel.

    Args:
        node: The description.
        tried: All candidates.
        panels: In 1024ths of the given one, shape (P,), int64.
    """
    found = ((int(panel), smallest_battery(node, tried, int(panel))) for panel in panels)
    return tuple(CurvePoint(panel / STEPS, each.size, each.reached) for panel, each in found)


def _smallest(node: Node, sizes: NDArray[np.float64], reached: NDArray[np.float64]) -> Smallest:
    good = np.flatnonzero(meets(node, reached))
    if not good.size:
        return Smallest(None, float(sizes.max()), float(reached.max()))
    best = good[np.argmin(sizes[good])]
    below = sizes[sizes < sizes[best]]
    return Smallest(float(sizes[best]), float(below.max()) if below.size else None, float(reached[best]))
