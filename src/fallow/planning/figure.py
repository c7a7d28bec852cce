"""The picture of a plan: trainings by month, where the energy went, sizes that grant the wish, and what they buy."""

from typing import TYPE_CHECKING, Any

import numpy as np

from fallow.planning.books import LOSSES
from fallow.planning.reasons import joules_in_words
from fallow.planning.result import Candidate, Plan
from fallow.reports.figures import COLOURS, DASHES, STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WISH: Any = {"color": "0.35", "linewidth": 1.0, "linestyle": (0, (4, 2))}


def draw_plan(plan: Plan) -> "Figure":
    """Returns the figure of a plan.

    Args:
        plan: What was found.
    """
    import matplotlib as mpl  # takes a second: only for those who draw
    from matplotlib.figure import Figure

    with mpl.rc_context():
        mpl.rcdefaults()  # not the user's own style, so that equal plans have equal pictures
        mpl.rcParams.update(STYLE)
        figure = Figure(figsize=(8.4, 6.2))
        figure.set_layout_engine("constrained", w_pad=0.1, h_pad=0.1)
        (months, energy), (curve, batteries) = figure.subplots(2, 2)
        _draw_months(months, plan)
        _draw_energy(energy, plan)
        _draw_curve(curve, plan)
        if plan.bought:
            _draw_bought(batteries, plan)
        else:
            _draw_batteries(batteries, plan)
        figure.draw_without_rendering()  # while the style is ours
    return figure


def _draw_months(axes: "Axes", plan: Plan) -> None:
    months = plan.month_figures[:-1]
    x = np.arange(len(months))
    outage = axes.twinx()
    outage.bar(x, [100 * month.outage for month in months], color="0.92", width=0.9)
    outage.set_ylim(0, 100)
    outage.set_ylabel("outage (% of the time)", color="0.5")
    outage.tick_params(axis="y", colors="0.5")
    outage.grid(visible=False)
    axes.set_zorder(outage.get_zorder() + 1)  # lines before bars
    axes.patch.set_visible(False)
    axes.fill_between(
        x, [each.low for each in months], [each.high for each in months], color=COLOURS[0], alpha=0.2, linewidth=0
    )
    mean = [month.trainings_per_day for month in months]
    axes.plot(x, mean, color=COLOURS[0], marker="o", markersize=3.5, linewidth=1.4, label="mean, and 5–95 % of years")
    _draw_wish(axes, plan)
    axes.set_xticks(x, [month.month[0] for month in months])
    axes.set_ylim(0, 1.15 * max(*(month.high for month in months), *mean) or 1)
    axes.set_title("Trainings a day", fontsize=9, loc="left")
    axes.legend(fontsize=7)


def _draw_energy(axes: "Axes", plan: Plan) -> None:
    ways = [way for way in plan.energy if way.units][::-1]
    colours = ["0.75" if way.way in LOSSES else COLOURS[2] for way in ways]
    axes.barh([way.way for way in ways], [100 * way.share for way in ways], color=colours, height=0.6)
    axes.set_xlabel("% of the harvest")
    axes.grid(visible=False, axis="y")
    axes.set_title(
        f"Where the harvest went ({joules_in_words(plan.year.harvest_joules_per_day)} a day)", fontsize=9, loc="left"
    )


def _draw_curve(axes: "Axes", plan: Plan) -> None:
    points = [(point.panel, point.battery_joules) for point in plan.curve_points if point.battery_joules is not None]
    if points:
        panels, batteries = np.array(points).T
        axes.plot(panels, batteries, color=COLOURS[0], marker="o", markersize=3.5, linewidth=1.4)
        axes.fill_between(
            panels, batteries, max(batteries.max(), plan.node.device.capacity_joules), color=COLOURS[0], alpha=0.1
        )
    else:
        axes.text(0.5, 0.5, "no size that was tried", ha="center", transform=axes.transAxes)
    axes.plot(1.0, plan.node.device.capacity_joules, "x", color=COLOURS[1], markersize=7, label="as given")
    _use_logarithms(axes, both=True)
    axes.set_xlabel("panel (of the given one)")
    axes.set_ylabel("battery (J)")
    axes.set_title(f"Smallest battery for {plan.node.wish.trainings_per_day:g} a day", fontsize=9, loc="left")
    axes.legend(fontsize=7)


def _draw_wish(axes: "Axes", plan: Plan) -> None:
    """Draws the wish, if it is within sight of what was reached."""
    if plan.node.wish.trainings_per_day <= axes.get_ylim()[1]:
        axes.axhline(plan.node.wish.trainings_per_day, label="wish", **WISH)


def _use_logarithms(axes: "Axes", *, both: bool = False) -> None:
    """Makes one axis or both logarithmic, with numbers at powers of ten; at 2 and 5 times them where there is room."""
    from matplotlib.ticker import EngFormatter, LogLocator, NullLocator

    axes.set_xscale("log")
    if both:
        axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis) if both else (axes.xaxis,):
        low, high = axis.get_data_interval()
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 100 * low else (1.0,), numticks=8))
        axis.set_major_formatter(EngFormatter(sep=""))
        axis.set_minor_locator(NullLocator())


def _own_panel(plan: Plan) -> list[Candidate]:
    """Returns the candidates with the given panel, by battery."""
    own = [each for each in plan.candidates if each.panel == 1.0]
    return sorted(own, key=lambda each: each.battery_joules)


def _draw_batteries(axes: "Axes", plan: Plan) -> None:
    own = _own_panel(plan)
    sizes = [each.battery_joules for each in own]
    for number, (words, values) in enumerate(
        (
            ("over the year", [each.trainings_per_day for each in own]),
            ("worst month", [each.worst_month for each in own]),
        )
    ):
        axes.plot(sizes, values, color=COLOURS[number], linestyle=DASHES[number], linewidth=1.4, label=words)
    _use_logarithms(axes)
    axes.set_ylim(0, 1.15 * max(each.trainings_per_day for each in own) or 1)
    _draw_wish(axes, plan)
    axes.set_xlabel("battery (J), with the given panel")
    axes.set_title("Trainings a day by battery", fontsize=9, loc="left")
    axes.legend(fontsize=7)


def _draw_bought(axes: "Axes", plan: Plan) -> None:
    own = _own_panel(plan)
    for number, policy in enumerate(each.policy for each in plan.bought):
        found = [(one.battery_joules, one.bought[number]) for one in own]
        sizes, f1, low, high = np.array(
            [(size, each.f1, each.low, each.high) for size, each in found], dtype=np.float64
        ).T
        colour, dashes = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
        axes.plot(sizes, f1, color=colour, linestyle=dashes, linewidth=1.4, label=policy)  # nothing where it is NaN
        axes.fill_between(sizes, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.axvline(plan.node.device.capacity_joules, **WISH)
    _use_logarithms(axes)
    axes.set_xlabel("battery (J), with the given panel")
    axes.set_title("Macro F1 that so many trainings bought", fontsize=9, loc="left")
    axes.legend(fontsize=7)
