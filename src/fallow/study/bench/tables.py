"""The tables of a benchmark as text: scores with mean ranks, and differences with intervals."""

import html
from collections.abc import Collection, Sequence

from fallow.study.bench.ranking import Difference, Rank
from fallow.study.bench.scores import WHOLE, Score, values_by_seed
from fallow.study.intervals import Interval
from fallow.study.overview import NOTHING, mean_and_spread

Cells = tuple[list[str], list[list[str]]]
"""Headings and rows."""

ENTERED = "*"
"""Stands behind the name of an entrant; the others are Fallow's own."""


def score_cells(
    scores: Sequence[Score],
    scenarios: Sequence[str],
    names: Sequence[str],
    entered: Collection[str],
    ranks: Sequence[Rank],
    metric: str,
) -> Cells:
    """Returns a row for each name: mean and deviation of a metric in each scenario, and the mean rank by F1.

    Args:
        scores: Of all runs.
        scenarios: The columns.
        names: The rows.
        entered: Those of them that are marked.
        ranks: Of those that compete; over fewer scenarios and seeds than others, it says over how many. Without any
            there is no such column.
        metric: A column of the scores.
    """
    by_name = {rank.entrant: rank for rank in ranks}
    most = max((rank.cells for rank in ranks), default=0)
    rows = []
    for name in names:
        values = [list(values_by_seed(scores, scenario, name, metric).values()) for scenario in scenarios]
        cells = [mean_and_spread(own, digits_of(metric)) if own else NOTHING for own in values]
        rows.append([_marked(name, entered), *cells, *([_say_rank(by_name.get(name), most)] if ranks else [])])
    return ["policy", *scenarios, *(["mean rank"] if ranks else [])], rows


def difference_cells(
    differences: Sequence[Difference],
    scenarios: Sequence[str],
    names: Sequence[str],
    entered: Collection[str],
    metric: str,
) -> Cells:
    """Returns a row for each other: what an entrant has more of a metric in each scenario, with its interval.

    Args:
        differences: Of one entrant.
        scenarios: The columns.
        names: The rows; one without a difference is left out.
        entered: Those of them that are marked.
        metric: A column of the scores.
    """
    found = {(one.other, one.scenario): one.interval for one in differences}
    rows = []
    for name in names:
        own = [found.get((name, scenario)) for scenario in scenarios]
        if any(own):
            cells = [NOTHING if one is None else say_interval(one, digits_of(metric)) for one in own]
            rows.append([_marked(name, entered), *cells])
    entrant = differences[0].entrant if differences else ""
    return [f"{entrant} minus", *scenarios], rows


def say_interval(interval: Interval, digits: int) -> str:
    """Returns a difference as text, with its interval if there is one.

    Args:
        interval: Of the difference.
        digits: After the decimal point.

    Examples:
        >>> say_interval(Interval(0.02, -0.01, 0.05, 5), 2)
        '+0.02 [-0.01, +0.05]'
    """
    mean = f"{interval.mean:+,.{digits}f}"
    return f"{mean} [{interval.low:+,.{digits}f}, {interval.high:+,.{digits}f}]" if interval.count > 1 else mean


def digits_of(metric: str) -> int:
    """Returns how many digits of a metric stand after the decimal point.

    Args:
        metric: A column of the scores.
    """
    return 0 if metric in WHOLE else 3


def html_table(cells: Cells, caption: str = "") -> str:
    """Returns a table as HTML.

    Args:
        cells: Headings and rows.
        caption: Above it.
    """
    headings, rows = cells

    def row(tag: str, texts: Sequence[str]) -> str:
        first, *others = (html.escape(text) for text in texts)
        scope = "row" if tag == "td" else "col"
        return (
            f'<tr><th class="words" scope="{scope}">{first}</th>'
            + "".join(f"<{tag}>{text}</{tag}>" for text in others)
            + "</tr>"
        )

    head = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    body = "\n".join(row("td", texts) for texts in rows)
    return f"<table>{head}<thead>{row('th', headings)}</thead><tbody>\n{body}\n</tbody></table>"


def _marked(name: str, entered: Collection[str]) -> str:
    return f"{name} {ENTERED}" if name in entered else name


def _say_rank(rank: Rank | None, most: int) -> str:
    if rank is None:
        return NOTHING
    return f"{rank.mean:.1f}" if rank.cells == most else f"{rank.mean:.1f} (of {rank.cells})"
