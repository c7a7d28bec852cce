"""The tables of a plan in words, for people."""

from fallow.planning.reasons import joules_in_words
from fallow.planning.result import Plan

Rows = list[tuple[str, ...]]
"""The headings, then a row of cells for each line."""


def tables(plan: Plan) -> dict[str, Rows]:
    """Returns the tables of a plan by title.

    Args:
        plan: What was found.
    """
    found = {
        f"The device as given, over {plan.years} simulated {'year' if plan.years == 1 else 'years'}": month_rows(plan),
        "Where the harvest went": energy_rows(plan),
        "The smallest battery for each panel": curve_rows(plan),
    }
    return found | ({"What so many trainings bought": bought_rows(plan)} if plan.bought else {})


def month_rows(plan: Plan) -> Rows:
    """Returns the months, and the year last.

    Args:
        plan: What was found.
    """
    rows: Rows = [("", "trainings/day", "5–95 %", "outage", "asleep", "harvest/day", "overflow")]
    for month in plan.month_figures:
        rows.append(
            (
                month.month,
                f"{month.trainings_per_day:.2f}",
                f"{month.low:.2f}–{month.high:.2f}",
                f"{month.outage:.1%}",
                f"{month.asleep:.1%}",
                joules_in_words(month.harvest_joules_per_day),
                f"{month.overflow:.1%}",
            )
        )
    return rows


def energy_rows(plan: Plan) -> Rows:
    """Returns where the harvest went, of the ways that any of it took.

    Args:
        plan: What was found.
    """
    days = plan.years * plan.days
    rows: Rows = [("", "joules a day", "of the harvest")]
    rows += [
        (way.way, joules_in_words(way.joules / days), f"{round(way.share, 3) + 0.0:.1%}")
        for way in plan.energy
        if way.units
    ]
    total = sum(way.joules for way in plan.energy)
    return [*rows, ("harvest", joules_in_words(total / days), "100.0%" if total else "–")]


def curve_rows(plan: Plan) -> Rows:
    """Returns the smallest battery for each panel.

    Args:
        plan: What was found.
    """
    rows: Rows = [("panel", "smallest battery", "trainings a day then")]
    for point in plan.curve_points:
        battery = "none" if point.battery_joules is None else joules_in_words(point.battery_joules)
        rows.append((f"{point.panel:.3g} ×", battery, f"{point.reached:.2f}"))
    return rows


def bought_rows(plan: Plan) -> Rows:
    """Returns the F1 that so many trainings bought under each policy, or the range that was measured.

    Args:
        plan: What was found.
    """
    rows: Rows = [("policy", "trainings a round", "F1", "95 %", "measured")]
    for each in plan.bought:
        spread = "one seed" if each.low is None else f"{each.low:.3f}–{each.high:.3f}"
        rows.append(
            (
                each.policy,
                f"{each.trainings_per_round:.2f}",
                "outside" if each.f1 is None else f"{each.f1:.3f}",
                "–" if each.f1 is None else spread,
                f"{each.measured_from:.2f}–{each.measured_to:.2f}",
            )
        )
    return rows
