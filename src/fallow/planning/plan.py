"""``fallow.plan``: what a device will do, and the battery and panel that it needs, before anything is built."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from fallow.errors import EnergyError
from fallow.planning.answers import (
    describe_curve,
    describe_energy,
    describe_months,
    smallest_battery,
    smallest_panel,
)
from fallow.planning.bought import read_scores
from fallow.planning.node import Node, read_node
from fallow.planning.output import check_output, write_plan
from fallow.planning.reasons import describe_answer
from fallow.planning.result import Plan, describe_candidates
from fallow.planning.search import BETWEEN, Sizes, choose_sizes, search
from fallow.planning.sizes import Costs, choose_unit, count_costs
from fallow.planning.weather import STEPS, Weather, draw_weather
from fallow.runs.progress import show_progress

SHOWN_FROM = 10**8
"""Client-slots from which on it takes more than a moment, and a bar shows how far it is."""

IN_SECTIONS = {
    "trainings_per_day": "wish.trainings_per_day",
    "met_in": "wish.met_in",
    "selected": "policy.selected",
    "starts_per_round": "policy.starts_per_round",
    "batteries": "search.batteries",
    "panels": "search.panels",
}
"""Keywords of `plan` that are settings of a section."""


def plan(
    node: str | Path | Mapping[str, Any] | None = None,
    *,
    overrides: Iterable[str] = (),
    runs: str | Path | None = None,
    out: str | Path | None = None,
    progress: bool = True,
    **settings: Any,
) -> Plan:
    """Returns what a device will do in simulated years of weather, and the battery and panel that its wish needs.

    Args:
        node: A TOML file, or a table as it would hold; None: the settings say it all.
        overrides: Assignments, each ``key=value``, as in ``wish.trainings_per_day=4``.
        runs: A run or the folder of a sweep; the plan then says what F1 so many trainings bought there.
        out: A folder for plan.json, plan.csv and plan.png; None writes nothing.
        progress: Whether to show how far it is, if it takes more than a moment.
        **settings: In place of those of `node`: a section, as in ``device={…}`` or ``energy=Bernoulli(p=0.1)``; a
            setting without one, as in ``years=50``; or `trainings_per_day`, `met_in`, `selected`, `starts_per_round`,
            `batteries`, `panels`. A ``policy="reserve"`` is its name.

    Raises:
        ConfigError: The file can't be read, or a setting is unknown or wrong.
        FallowError: The energy model can't be used as it is.
        RunDirectoryError: `runs` holds no run that learnt, or `out` can't be written to.

    Examples:
        >>> found = plan(
        ...     device={"train_joules": 20.0, "transmit_joules": 1.0, "capacity_joules": 25.0},
        ...     energy={"model": "bernoulli", "p": 0.5}, unit_joules=1.0, trainings_per_day=0.5, years=2)
        >>> found.met
        True
    """
    described = read_node(node, _in_sections(settings), overrides)
    if out is not None:
        check_output(out)
    scores = read_scores(runs) if runs is not None else ()
    sizes = choose_sizes(described)
    costs, weather = _draw_fitting(described, sizes)
    lived = weather.units.size
    expected = sizes.panels.size * (sizes.batteries.size + BETWEEN) * lived
    lock = Lock()
    with show_progress(expected // 1000, "thousand device-slots", show=progress and expected > SHOWN_FROM) as bar:

        def advance(count: int) -> None:
            with lock:
                bar.advance(count // 1000)

        tried, lives = search(described, costs, weather, sizes, advance)
    if lives.books is None:
        raise AssertionError("the given device keeps books")
    months = describe_months(tried, lives.books, weather, costs.scale)
    battery, panel = smallest_battery(described, tried, STEPS), smallest_panel(described, tried)
    found = Plan(
        node=described,
        scale=costs.scale,
        years=weather.years,
        days=float(weather.month_days.sum()),
        month_figures=months,
        energy=describe_energy(lives.books, costs.scale),
        battery=battery,
        panel=panel,
        curve_points=describe_curve(described, tried, sizes.panels),
        candidates=describe_candidates(described, tried, scores, weather.round_days),
        sentences=describe_answer(described, costs, weather, tried, sizes, months, battery, panel),
        bought=tuple(each.read(months[-1].trainings_per_day * weather.round_days) for each in scores),
    )
    if out is not None:
        write_plan(found, out)
    return found


def _draw_fitting(node: Node, sizes: Sizes) -> tuple[Costs, Weather]:
    """Returns costs and weather in a unit in which the largest battery and the largest panel's best slot fit."""
    unit = choose_unit(node, float(sizes.batteries.max()))
    while True:
        costs = count_costs(node, unit)
        try:
            weather = draw_weather(node, costs.scale)
            weather.check_panel(int(sizes.panels.max()))
        except EnergyError:
            if node.unit_joules or costs.train == 1:
                raise
            unit *= 10.0  # it is ours to choose
        else:
            return costs, weather


def _in_sections(settings: Mapping[str, Any]) -> dict[str, Any]:
    named = {IN_SECTIONS.get(key, key): value for key, value in settings.items()}
    if isinstance(named.get("policy"), str):
        named["policy.name"] = named.pop("policy")
    return dict(sorted(named.items(), key=lambda item: "." in item[0]))  # a section first, then what changes in it
