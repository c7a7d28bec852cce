"""The weather of a plan: some years of harvest, the same for all candidates, and larger and smaller panels in it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from fallow.energy import Correlated, EnergyModel, Scale, Scaled, Solar, Watts, prepare_harvest, unit_rows
from fallow.energy.base import MOST_UNITS
from fallow.energy.clock import parse_moment, parse_zone
from fallow.errors import EnergyError
from fallow.planning.node import DAY_SECONDS, YEAR_DAYS, Node

STEPS = 1024
"""A panel is a whole number of 1024ths of the given one."""

MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, eq=False)
class Weather:
    """Years of harvest of the given panel.

    Attributes:
        units: Harvested in each slot of each year, the warm-up first, shape (slots, years), int32.
        warm_up: Rounds that are lived through before a year is counted.
        rounds: Rounds of a year, after the warm-up.
        slots_per_round: S.
        round_days: The length of a round in days.
        months: The month, from 0, of each of a year's rounds, in which its middle lies, shape (rounds,), int64.
    """

    units: NDArray[np.int32]
    warm_up: int
    rounds: int
    slots_per_round: int
    round_days: float
    months: NDArray[np.int64]

    @property
    def years(self) -> int:
        """How many years there are."""
        return int(self.units.shape[1])

    @property
    def month_days(self) -> NDArray[np.float64]:
        """Days of a year that count for each month, shape (12,), float64; those of whole rounds."""
        return np.multiply(np.bincount(self.months, minlength=len(MONTH_DAYS)), self.round_days, dtype=np.float64)

    def ends_month(self, number: int) -> bool:
        """Returns whether a round is a month's last, or the year's.

        Args:
            number: The round, from 0, without the warm-up.
        """
        return number + 1 == self.rounds or bool(self.months[number] != self.months[number + 1])

    def check_panel(self, steps: int) -> None:
        """Raises `EnergyError` if a panel harvests more in a slot than can be counted.

        Args:
            steps: Its size in 1024ths of the given one.
        """
        most = int(self.units.max()) * steps // STEPS
        if most > MOST_UNITS:
            raise EnergyError(
                f"The largest panel harvests {most} units in a slot, and {MOST_UNITS} are the most; raise unit_joules, "
                "or shorten slot_seconds."
            )

    def harvest(self, panels: NDArray[np.int64]) -> Iterator[NDArray[np.int32]]:
        """Yields the units of each slot, round by round, the warm-up first, each of shape (S, panels, years), int32.

        Args:
            panels: The size of each panel, in 1024ths of the given one, shape (panels,), int64.
        """
        total = np.zeros((self.slots_per_round + 1, 1, self.years), dtype=np.int64)
        for first in range(0, len(self.units), self.slots_per_round):
            total[0] = total[-1]
            np.cumsum(self.units[first : first + self.slots_per_round], axis=0, out=total[1:, 0])
            total[1:] += total[0]
            yield np.diff(share_units(total, panels[:, None]), axis=0).astype(np.int32)


def share_units(total: NDArray[np.int64], steps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns how many of the first units of the given panel another panel harvests, of the arrays' common shape.

    Which units these are is fixed: those that a panel harvests, a larger one harvests as well. So in every slot a
    larger panel harvests no less, and over any time a panel harvests its share to within a few units, however long it
    is. (Unit n goes to panels above b(n)/1024, where b reverses the last ten bits of n: van der Corput's sequence.)

    Args:
        total: Units harvested by the given panel, int64.
        steps: Size of the panel in 1024ths of the given one, int64; above 1024 it harvests every unit, and some twice.

    Examples:
        >>> share_units(np.arange(5), np.array(512)).tolist(), share_units(np.arange(5), np.array(1024)).tolist()
        ([0, 1, 1, 2, 2], [0, 1, 2, 3, 4])
    """
    whole, part = np.divmod(steps, STEPS)
    cycles, rest = np.divmod(total, STEPS)
    return np.asarray(whole * total + part * cycles + _shared()[part, rest])


@cache
def _shared() -> NDArray[np.int64]:
    """Returns how many of the first `rest` units go to a panel of `part` steps, shape (STEPS, STEPS), int64."""
    numbers = np.arange(STEPS)
    reverse = np.zeros_like(numbers)
    for bit in range(STEPS.bit_length() - 1):
        reverse = reverse << 1 | (numbers >> bit & 1)
    gets = reverse[None, :] < numbers[:, None]
    return np.cumsum(gets, axis=1) - gets


def draw_weather(node: Node, scale: Scale) -> Weather:
    """Returns the years of a plan.

    Where chance decides, the years are as many clients of the energy model, each with weather of its own. Else they
    are the years of one client, one after another, as in a file of several years.

    Args:
        node: The description.
        scale: The length of a slot and the energy of a unit.

    Raises:
        FallowError: The energy model can't be used as it is.
    """
    slots = node.slots_per_round
    round_days = slots * node.slot_seconds / DAY_SECONDS
    rounds = max(1, int(YEAR_DAYS / round_days + 1e-9))
    warm_up = round(node.warm_up_days / round_days)
    model = node.model.at_scale(scale) if isinstance(node.model, Scaled) else node.model
    if isinstance(model, Correlated):
        units = _draw(node, scale, node.years, warm_up + rounds)
    else:
        years = 1 if isinstance(node.model, Solar) else node.years  # without clouds, the sun is the same every year
        first = [round(year * YEAR_DAYS / round_days) for year in range(years)]
        column = _draw(node, scale, 1, first[-1] + warm_up + rounds)[:, 0]
        spans = [column[start * slots : (start + warm_up + rounds) * slots] for start in first]
        units = np.stack(spans, axis=1)
    middle = (_first_day(node.model) + (warm_up + np.arange(rounds) + 0.5) * round_days) % YEAR_DAYS
    months = np.searchsorted(np.cumsum(MONTH_DAYS), middle, side="right")
    return Weather(units, warm_up, rounds, slots, round_days, months)


def _first_day(model: EnergyModel) -> float:
    """Returns the days from 1 January to the beginning of the weather; 0 for a source that has no calendar."""
    if isinstance(model, Solar):
        zone, start = model.timezone, model.start
    elif isinstance(model, Watts):
        zone, start = model.timezone, model.start or model.describe().first.isoformat()
    else:
        return 0.0
    local = parse_zone("energy.timezone", zone)
    moment = parse_moment("energy.start", start, local).astimezone(local)
    return (moment - moment.replace(month=1, day=1, hour=0, minute=0, second=0)).total_seconds() / DAY_SECONDS


def _draw(node: Node, scale: Scale, clients: int, rounds: int) -> NDArray[np.int32]:
    """Returns the harvest of some clients of the energy model, shape (rounds × S, clients), int32."""
    at_once = max(1, int(DAY_SECONDS / (node.slots_per_round * node.slot_seconds)))  # a call for each slot takes long
    block = node.slots_per_round * at_once
    epochs = -(-rounds // at_once)
    harvest = prepare_harvest(
        node.model, seed=node.seed, clients=clients, slots_per_epoch=block, scale=scale, mean=node.energy.mean
    )
    units = np.empty((epochs * block, clients), dtype=np.int32)
    for epoch in range(epochs):
        first = epoch * block
        for rows in unit_rows(harvest(epoch), clients, block):
            units[first : first + len(rows)] = rows
            first += len(rows)
    return units[: rounds * node.slots_per_round]
