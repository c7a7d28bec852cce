"""The page of the readings: how many combinations agree with each statement, and which come nearest."""

from collections.abc import Sequence

from fallow.study.grid import HARVESTS
from fallow.study.readings.agreement import STATEMENTS, Combination, odd_slightly_below, saves_as_printed
from fallow.study.readings.figure import FIGURE
from fallow.study.verdicts import PAPER_SAVING

SHOWN = 8
"""How many combinations are listed."""


def readings_page(combinations: Sequence[Combination], seeds: int) -> str:
    """Returns the page as Markdown.

    Args:
        combinations: Every combination of readings.
        seeds: Of each.
    """
    lines = [
        "# Which reading gives the paper's energy",
        "",
        f"{len(combinations)} combinations of readings, means over {seeds} seeds, without learning: whether a change "
        "is significant is left to chance. [How we read the paper](reading-the-paper.md) has the readings.",
        "",
        *agreement_table(combinations),
        "",
        *nearest(combinations),
        "",
        f"![Energy of VAoI and FedBacys-Odd as a share of FedAvg's, by reading]({FIGURE}.png)",
    ]
    return "\n".join(lines) + "\n"


def agreement_table(combinations: Sequence[Combination]) -> list[str]:
    """Returns how many combinations agree with each statement, as a table in Markdown.

    Args:
        combinations: Every combination of readings.
    """
    cells = [f"p_bc = {p:g}" for p in HARVESTS]
    lines = [f"| the paper says | {' | '.join(cells)} | as a whole |", f"|---|{'---|' * (len(cells) + 1)}"]
    for statement in STATEMENTS:
        held = [[statement.at(one, p) for one in combinations] for p in HARVESTS]
        counts = ["–" if None in own else str(sum(map(bool, own))) for own in held]
        overall = sum(statement.overall(one) for one in combinations)
        lines.append(f"| {statement.text} | {' | '.join(counts)} | {overall} |")
    every = sum(all(statement.overall(one) for statement in STATEMENTS) for one in combinations)
    return [*lines, f"| all of it | {' | '.join('–' for _ in HARVESTS)} | {every} |"]


def nearest(combinations: Sequence[Combination]) -> list[str]:
    """Returns the combinations with the paper's saving and FedBacys-Odd slightly below VAoI at some p_bc.

    Args:
        combinations: Every combination of readings.
    """
    agreeing = [one for one in combinations if any(_agrees(one, p) for p in HARVESTS)]
    if not agreeing:
        return ["No combination gives the paper's saving with FedBacys-Odd slightly below VAoI, at any p_bc."]
    agreeing.sort(key=lambda one: min(abs(s.saving - PAPER_SAVING) for s in one.at.values()))
    where = [f"{p:g}" for p in HARVESTS if any(_agrees(one, p) for one in agreeing)]
    more = f"; the {SHOWN} nearest to {PAPER_SAVING:.0%}" if len(agreeing) > SHOWN else ""
    heads = [f"p_bc = {p:g}" for p in HARVESTS]
    return [
        f"{len(agreeing)} combinations give the paper's saving with FedBacys-Odd slightly below VAoI at one p_bc, "
        f"which is {' or '.join(where)}{more}. In a cell: what VAoI saves / by how much FedBacys-Odd is below VAoI.",
        "",
        f"| FedBacys; VAoI; FedAvg; starts | {' | '.join(heads)} |",
        f"|---|{'---|' * len(heads)}",
        *(f"| {one} | {' | '.join(_cell(one, p) for p in HARVESTS)} |" for one in agreeing[:SHOWN]),
    ]


def _agrees(one: Combination, p: float) -> bool:
    return saves_as_printed(one.at[p]) and odd_slightly_below(one.at[p])


def _cell(one: Combination, p: float) -> str:
    text = f"{one.at[p].saving:.1%} / {one.at[p].odd:.1%}"
    return f"**{text}**" if _agrees(one, p) else text
