"""Devices that live through the weather: all candidates and all years are clients of one world."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event

import numpy as np
from numpy.typing import NDArray

from fallow.planning.books import BookKeeper, Books
from fallow.planning.node import Node
from fallow.planning.sizes import Costs, build_physics
from fallow.planning.weather import Weather
from fallow.policies import Mask
from fallow.policies.reserve import with_reserve
from fallow.processors import available_processors
from fallow.rng import Purpose, stream
from fallow.simulation.world import World

CLIENTS_AT_ONCE = 2**15
CELLS_AT_ONCE = 2**23
"""Most clients of a world, and most client-slots of a round in memory: few enough for the caches, and for threads."""

MONTHS = 12

Advance = Callable[[int], None]
"""Called with the client-slots that have just been lived through."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Devices that differ in battery and panel.

    Attributes:
        batteries: Capacity in joules, shape (C,), float64.
        panels: Size in 1024ths of the given panel, shape (C,), int64.
    """

    batteries: NDArray[np.float64]
    panels: NDArray[np.int64]

    def __len__(self) -> int:
        return self.batteries.size

    def part(self, first: int, last: int) -> "Candidates":
        """Returns some of them.

        Args:
            first: The first one.
            last: The one after the last.
        """
        return Candidates(self.batteries[first:last], self.panels[first:last])


@dataclass(frozen=True, eq=False)
class Lives:
    """What candidates did in the years that count.

    Attributes:
        starts: Trainings by candidate, year and month, shape (C, years, 12), int64.
        books: Of the first candidate, where they were asked for.
    """

    starts: NDArray[np.int64]
    books: Books | None


def live(
    node: Node,
    costs: Costs,
    weather: Weather,
    candidates: Candidates,
    *,
    keep_books: bool = False,
    advance: Advance | None = None,
) -> Lives:
    """Lives through every year with every candidate, and returns what they did.

    Args:
        node: The description.
        costs: Of it.
        weather: The same for all candidates.
        candidates: At least one.
        keep_books: Whether the first candidate's energy is followed in detail.
        advance: Told how far the work is.
    """
    most = min(CLIENTS_AT_ONCE, max(1, CELLS_AT_ONCE // weather.slots_per_round))
    workers = available_processors()
    size = max(1, most // weather.years)
    if len(candidates) * weather.years > most // 2:  # enough for a thread each
        size = min(size, -(-len(candidates) // workers))
    parts = [candidates.part(first, first + size) for first in range(0, len(candidates), size)]

    stopped = Event()

    def tell(count: int) -> None:
        if stopped.is_set():
            raise InterruptedError("another part of the work was stopped")
        if advance:
            advance(count)

    def live_part(number: int) -> Lives:
        return _live_together(node, costs, weather, parts[number], keep_books and not number, tell)

    if len(parts) == 1:
        return live_part(0)
    with ThreadPoolExecutor(min(workers, len(parts))) as pool:
        try:
            lives = list(pool.map(live_part, range(len(parts))))
        except BaseException:  # Ctrl-C too: without it, the pool would wait for all that is under way
            stopped.set()
            raise
    return Lives(np.concatenate([each.starts for each in lives]), lives[0].books)


def _live_together(
    node: Node, costs: Costs, weather: Weather, candidates: Candidates, keep_books: bool, advance: Advance
) -> Lives:
    """Lives through every year with some candidates, in one world."""
    years, count = weather.years, len(candidates)
    world = World(build_physics(node, costs, np.repeat(candidates.batteries, years)))
    panels, places = np.unique(candidates.panels, return_inverse=True)
    start = with_reserve if node.policy.name == "reserve" else None
    keeper = BookKeeper(world, weather) if keep_books else None
    months = np.zeros((count * years, MONTHS), dtype=np.int64)
    before = world.state.starts.copy()
    for number, harvest in enumerate(weather.harvest(panels)):
        counted = number - weather.warm_up
        if counted == 0:
            before = world.state.starts.copy()
            if keeper:
                keeper.open()
        rows = harvest.take(places, axis=1).reshape(weather.slots_per_round, -1)
        opened = world.open_epoch(number, rows, record_events=False)
        world.run_slots(opened, _selected(node, number, years, count), start, keeper.watch if keeper else None)
        if counted >= 0 and weather.ends_month(counted):
            month = weather.months[counted]
            months[:, month] += world.state.starts - before
            before = world.state.starts.copy()
            if keeper:
                keeper.close_month(month)
        advance(rows.size)
    return Lives(months.reshape(count, years, MONTHS), keeper.close() if keeper else None)


def _selected(node: Node, number: int, years: int, count: int) -> Mask:
    """Returns whom the server selects in a round; in a year it selects all candidates or none, shape (N,), bool."""
    if node.policy.selected >= 1:
        return np.ones(count * years, dtype=np.bool_)
    chosen = stream(node.seed, Purpose.SELECT, number).random(years) < node.policy.selected
    return np.tile(chosen, count)
