"""A plan as Python users have it: frames, a picture, the answer in sentences."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

from fallow.energy import Scale
from fallow.planning.answers import CurvePoint, Month, Smallest, Way
from fallow.planning.bought import Bought, Scores
from fallow.planning.node import Node
from fallow.planning.search import Tried, meets
from fallow.planning.weather import STEPS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Candidate:
    """A battery and a panel that were tried.

    Attributes:
        panel: As a multiple of the given one.
        battery_joules: What the battery stores.
        trainings_per_day: Over all years.
        worst_month: Trainings a day in the worst month, the mean over all years.
        met: Whether the wish is granted.
        bought: The F1 that so many trainings bought in the runs, by policy; for the given panel.
    """

    panel: float
    battery_joules: float
    trainings_per_day: float
    worst_month: float
    met: bool
    bought: tuple[Bought, ...] = ()


@dataclass(frozen=True, eq=False)
class Plan:
    """What a device will do, and what its wish needs.

    Attributes:
        node: The description.
        scale: The length of a slot and the energy of a unit.
        years: Simulated years.
        days: Days of a year that count; those of whole rounds.
        month_figures: The given device by month, and the year last.
        energy: Where its harvest went; the units add up to it.
        battery: The smallest for the given panel.
        panel: The smallest for the given battery.
        curve_points: The smallest battery for each panel.
        candidates: All that were tried, the given device first.
        sentences: The answer in words.
        bought: The F1 that so many trainings as the device makes bought in the runs, by policy.
    """

    node: Node
    scale: Scale
    years: int
    days: float
    month_figures: tuple[Month, ...]
    energy: tuple[Way, ...]
    battery: Smallest
    panel: Smallest
    curve_points: tuple[CurvePoint, ...]
    candidates: tuple[Candidate, ...]
    sentences: tuple[str, ...]
    bought: tuple[Bought, ...] = ()

    @property
    def met(self) -> bool:
        """Whether the device as given grants the wish."""
        return self.candidates[0].met

    @property
    def year(self) -> Month:
        """The figures of the whole year."""
        return self.month_figures[-1]

    @cached_property
    def months(self) -> "pd.DataFrame":
        """A row for each month: trainings a day with their spread, outage, sleep, harvest, overflow; the year last."""
        return _frame(self.month_figures)

    @cached_property
    def curve(self) -> "pd.DataFrame":
        """A row for each panel: the smallest battery that grants the wish with it."""
        return _frame(self.curve_points)

    def table(self) -> "pd.DataFrame":
        """Returns every battery and panel that was tried, and what they reach; the given device first."""
        import pandas as pd

        return pd.DataFrame([flat(candidate) for candidate in self.candidates])

    def document(self) -> dict[str, Any]:
        """Returns the plan as plain data, as in plan.json."""
        node = self.node.model_dump()
        node["energy"] |= {key: value for key, value in self.node.energy.options.items() if value is not None}
        return {
            "met": self.met,
            "answer": list(self.sentences),
            "smallest_battery": asdict(self.battery),
            "smallest_panel": asdict(self.panel),
            "years": self.years,
            "slot_seconds": self.scale.slot_seconds,
            "unit_joules": self.scale.unit_joules,
            "months": [asdict(month) for month in self.month_figures[:-1]],
            "year": asdict(self.year),
            "energy": [asdict(way) for way in self.energy],
            "curve": [asdict(point) for point in self.curve_points],
            "bought": [asdict(each) for each in self.bought],
            "candidates": [flat(candidate) for candidate in self.candidates],
            "node": node,
        }

    def plot(self) -> "Figure":
        """Returns a figure: trainings a day by month, where the energy went, and the smallest battery by panel."""
        from fallow.planning.figure import draw_plan

        return draw_plan(self)

    def __repr__(self) -> str:
        words = "granted" if self.met else "not granted"
        wish = self.node.wish.trainings_per_day
        return f"Plan({self.year.trainings_per_day:.3g} trainings a day, {wish:g} wished: {words}; {self.years} years)"

    def _repr_html_(self) -> str:
        """Returns the answer and the months, for notebooks."""
        sentences = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences)
        months: str = self.months.round(3).to_html(index=False)
        return sentences + months


def describe_candidates(node: Node, tried: Tried, scores: Sequence[Scores], round_days: float) -> tuple[Candidate, ...]:
    """Returns all candidates with what they reached.

    Args:
        node: The description.
        tried: The given device first.
        scores: Of runs, by policy.
        round_days: The length of a round.
    """
    good = meets(node, tried.reached)
    described = []
    for place in range(len(tried.candidates)):
        own = tried.candidates.panels[place] == STEPS
        average = float(tried.average[place])
        described.append(
            Candidate(
                panel=float(tried.candidates.panels[place] / STEPS),
                battery_joules=float(tried.candidates.batteries[place]),
                trainings_per_day=average,
                worst_month=float(tried.worst[place]),
                met=bool(good[place]),
                bought=tuple(each.read(average * round_days) for each in scores) if own else (),
            )
        )
    return tuple(described)


def flat(candidate: Candidate) -> dict[str, Any]:
    """Returns a candidate as a row of a table.

    Args:
        candidate: Its F1 by policy become columns.
    """
    row = {key: value for key, value in vars(candidate).items() if key != "bought"}
    for each in candidate.bought:
        row |= {f"f1 {each.policy}": each.f1, f"f1 {each.policy} low": each.low, f"f1 {each.policy} high": each.high}
    return row


def _frame(rows: Iterable[Any]) -> "pd.DataFrame":
    import pandas as pd  # takes half a second: only for those who ask

    return pd.DataFrame([asdict(row) for row in rows])
