"""The page of a benchmark: F1 against energy, ranks, differences and how the references were made, in one file."""

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fallow.study.bench.chart import Point, draw_chart, draw_mark
from fallow.study.bench.scores import ENERGY, F1, Score, values_by_seed
from fallow.study.bench.tables import ENTERED, Cells, html_table
from fallow.study.intervals import interval
from fallow.study.results import LATE

if TYPE_CHECKING:
    from fallow.study.bench.result import Bench

TEMPLATE = "bench.html"
BOUNDS = "A dashed line is a bound: a policy for which energy is no limit."
SCALES = '<p class="hint">Each panel has a scale of its own.</p>'
COMPARED = ((F1, "F1"), (ENERGY, "Energy (units)"))
"""The columns of which the page has differences, and what they are called."""


def bench_page(bench: "Bench") -> str:
    """Returns the page, as HTML; it asks no one for anything.

    Args:
        bench: The results.
    """
    from fallow.reports.page import fill_page  # its room loads Arrow

    names = bench.names
    numbers = {name: number for number, name in enumerate(_first_entered(names, bench.entrants))}
    notes = "".join(f'<p class="note">{html.escape(note)}</p>' for note in bench.notes)
    counts = ((len(bench.scenarios), "scenario"), (bench.suite.seeds, "seed"))
    sizes = [f"{count} {what}{'s' * (count != 1)}" for count, what in counts]
    scope = " · ".join([", ".join(bench.entrants), f"suite {bench.suite.name}", *sizes])
    return fill_page(
        TEMPLATE,
        scope=html.escape(scope),
        notes=notes,
        charts="\n".join(_figure(bench, scenario, numbers) for scenario in bench.scenarios),
        legend=_legend([name for name in names if name in bench.ranked], bench.entrants, numbers),
        bounds=BOUNDS if {score.entrant for score in bench.scores} - set(bench.ranked) else "",
        scales=SCALES if len(bench.scenarios) > 1 else "",
        late=f"{LATE:.0%}",
        mark=ENTERED,
        scores=_scrollable("F1", bench.cells()),
        energy=_scrollable("Energy (units)", bench.cells(ENERGY)),
        differences="\n".join(
            _scrollable(f"{heading}: {name} minus every other", bench.difference_cells(name, metric))
            for name in bench.entrants
            for metric, heading in COMPARED
        ),
        scenarios=_scrollable("Scenarios", _scenarios(bench)),
        origins="".join(f'<p class="hint">{html.escape(origin)}</p>' for origin in bench.origins),
    )


def _figure(bench: "Bench", scenario: str, numbers: dict[str, int]) -> str:
    words = next(one.words for one in bench.suite.scenarios if one.name == scenario)
    points, bounds = [], {}
    for name in bench.names:
        f1, energy = (values_by_seed(bench.scores, scenario, name, metric) for metric in (F1, ENERGY))
        if not f1:
            continue
        if name in bench.ranked:
            ends = interval(list(f1.values())), interval(list(energy.values()))
            points.append(Point(name, *ends, entered=name in bench.entrants))
        else:
            bounds[name] = interval(list(f1.values())).mean
    picture = draw_chart(f"F1 against energy in the scenario {scenario}", points, bounds, numbers)
    heading = f"<h4>{html.escape(scenario)}</h4>"
    return f'<div class="panel">{heading}{picture}<p class="hint">{html.escape(words)}</p></div>'


def _legend(names: Sequence[str], entrants: Sequence[str], numbers: dict[str, int]) -> str:
    def item(name: str) -> str:
        mark = draw_mark(numbers[name], 8, 8, 5)
        words = html.escape(f"{name} {ENTERED}" if name in entrants else name)
        return f'<li><svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">{mark}</svg>{words}</li>'

    return f'<ul class="legend">{"".join(map(item, names))}</ul>'


def _first_entered(names: Sequence[str], entrants: Sequence[str]) -> list[str]:
    """Returns the names with the entrants first, so that an entrant has the same colour on every page."""
    return [*entrants, *(name for name in names if name not in entrants)]


def _scenarios(bench: "Bench") -> Cells:
    def runs(scenario: str, scores: Sequence[Score]) -> str:
        return str(len([score for score in scores if score.scenario == scenario]))

    rows = [[one.name, str(one.version), runs(one.name, bench.scores), one.words] for one in bench.suite.scenarios]
    return ["scenario", "version", "runs", "what it is"], rows


def _scrollable(label: str, cells: Cells) -> str:
    name = html.escape(label, quote=True)
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{name}">{html_table(cells, label)}</div>'
