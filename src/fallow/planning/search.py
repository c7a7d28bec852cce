"""Which batteries and panels are tried, and the smallest of them that grant the wish."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fallow.planning.lives import Advance, Candidates, Lives, live
from fallow.planning.node import Node
from fallow.planning.sizes import Costs
from fallow.planning.weather import STEPS, Weather

BATTERIES = 17
PANELS = 13
BETWEEN = 7
"""Sizes that are tried first, and sizes that are then tried between one that falls short and the next that does not."""

LARGEST_BATTERY = 16.0
LARGEST_PANEL = 8.0
"""The largest sizes that are tried, of the given ones; the smallest panel is the inverse."""

ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Sizes:
    """The sizes that are tried, the given ones among them.

    Attributes:
        batteries: In joules, ascending, shape (B,), float64.
        panels: In 1024ths of the given panel, ascending, shape (P,), int64.
    """

    batteries: NDArray[np.float64]
    panels: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Tried:
    """Candidates and what they reached.

    Attributes:
        candidates: The given device first.
        monthly: Trainings a day by candidate, year and month, shape (C, years, 12), float64; NaN in a month without
            rounds.
        average: Trainings a day over all years, shape (C,), float64.
        worst: Trainings a day in the worst month, the mean over all years, shape (C,), float64.
        reached: The one of the two that the wish is about, shape (C,), float64.
    """

    candidates: Candidates
    monthly: NDArray[np.float64]
    average: NDArray[np.float64]
    worst: NDArray[np.float64]
    reached: NDArray[np.float64]

    def followed_by(self, other: "Tried") -> "Tried":
        """Returns both together.

        Args:
            other: Candidates that were tried later.
        """
        mine, theirs = self.candidates, other.candidates
        both = Candidates(
            np.concatenate([mine.batteries, theirs.batteries]), np.concatenate([mine.panels, theirs.panels])
        )
        names = ("monthly", "average", "worst", "reached")
        return Tried(both, **{name: np.concatenate([vars(self)[name], vars(other)[name]]) for name in names})


def choose_sizes(node: Node) -> Sizes:
    """Returns the sizes to try: those that are listed, or a range around the given ones.

    The smallest battery is the one that holds just one training; below it nothing can be done.

    Args:
        node: The description.
    """
    device = node.device
    batteries = np.array(node.search.batteries or _battery_range(node))
    panels = np.array(node.search.panels or np.geomspace(1 / LARGEST_PANEL, LARGEST_PANEL, PANELS))
    steps = np.maximum(1, np.rint(panels * STEPS)).astype(np.int64)
    return Sizes(np.union1d(batteries, [device.capacity_joules]), np.union1d(steps, [STEPS]))


def _battery_range(node: Node) -> NDArray[np.float64]:
    device = node.device
    reserve = device.transmit_joules if node.policy.name == "reserve" else 0.0
    one_training = (device.train_joules + device.download_joules + reserve) / (1 - device.cutoff)
    largest = LARGEST_BATTERY * max(device.capacity_joules, one_training)
    return np.geomspace(max(one_training, largest / 1e4), largest, BATTERIES)


def search(
    node: Node, costs: Costs, weather: Weather, sizes: Sizes, advance: Advance | None = None
) -> tuple[Tried, Lives]:
    """Tries every battery with every panel, then sizes between those that fall short and those that do not.

    Args:
        node: The description.
        costs: Of it.
        weather: The same for all candidates.
        sizes: To begin with.
        advance: Told how far the work is.

    Returns:
        All that were tried, the given device first; and the lives of the first round, with the books of the device.
    """
    panels = np.repeat(sizes.panels, sizes.batteries.size)
    batteries = np.tile(sizes.batteries, sizes.panels.size)
    given = (panels == STEPS) & (batteries == node.device.capacity_joules)
    order = np.argsort(~given, kind="stable")
    first = Candidates(batteries[order], panels[order])
    lives = live(node, costs, weather, first, keep_books=True, advance=advance)
    tried = _judge(node, weather, first, lives)
    finer = _between(node, tried, sizes)
    if len(finer):
        tried = tried.followed_by(_judge(node, weather, finer, live(node, costs, weather, finer, advance=advance)))
    return tried, lives


def meets(node: Node, reached: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Returns which candidates grant the wish, shape (C,), bool.

    Args:
        node: The description.
        reached: What each reached, shape (C,), float64.
    """
    return reached >= node.wish.trainings_per_day * (1 - ROUNDING)


def _judge(node: Node, weather: Weather, candidates: Candidates, lives: Lives) -> Tried:
    days = weather.month_days
    monthly = np.full(lives.starts.shape, np.nan)
    np.divide(lives.starts, days, out=monthly, where=np.broadcast_to(days > 0, monthly.shape))
    average = lives.starts.sum(axis=2).mean(axis=1) / days.sum()
    worst = np.nanmin(monthly.mean(axis=1), axis=1)
    reached = worst if node.wish.met_in == "every-month" else average
    return Tried(candidates, monthly, average, worst, reached)


def _between(node: Node, tried: Tried, sizes: Sizes) -> Candidates:
    """Returns sizes between one that falls short and the next that grants the wish.

    They are batteries for each panel, and panels for the given battery. A list is not refined: what is not on it can't
    be had.
    """
    good = meets(node, tried.reached)
    batteries: list[NDArray[np.float64]] = []
    panels: list[NDArray[np.int64]] = []
    given = node.device.capacity_joules
    for panel in sizes.panels if not node.search.batteries else ():
        own = tried.candidates.panels == panel
        smallest = tried.candidates.batteries[own & good].min(initial=np.inf)
        below = sizes.batteries[sizes.batteries < smallest]
        if np.isfinite(smallest) and below.size:
            batteries.append(np.geomspace(below[-1], smallest, BETWEEN + 2)[1:-1])
            panels.append(np.full(BETWEEN, panel))
    if not node.search.panels:
        own = tried.candidates.batteries == given
        enough = tried.candidates.panels[own & good]
        lower = sizes.panels[sizes.panels < enough.min()] if enough.size else enough
        if lower.size:
            steps = np.unique(np.rint(np.geomspace(lower[-1], enough.min(), BETWEEN + 2)).astype(np.int64))[1:-1]
            batteries.append(np.full(steps.size, given))
            panels.append(steps)
    if not panels:
        return Candidates(np.empty(0), np.empty(0, dtype=np.int64))
    return Candidates(np.concatenate(batteries), np.concatenate(panels))
