"""The tables of docs/results.md from the tables that `fallow paper` keeps.

python results/paper/summarize.py
"""

import itertools
from pathlib import Path

from fallow.study.grid import ALPHAS, HARVESTS, NAMES, POLICIES
from fallow.study.intervals import paired
from fallow.study.kept import load_outcomes
from fallow.study.outcomes import Outcome, Outcomes
from fallow.study.overview import mean_and_spread
from fallow.study.page import cell_table, verdict_table
from fallow.study.paper import FEATURES, PARAMETERS
from fallow.study.verdicts import Judgement, judge

HERE = Path(__file__).parent
RULES = {"paper": "the paper's", "recommended": "recommended"}


def read_rows() -> dict[str, Outcomes]:
    """Returns what the runs came to, by rule."""
    return load_outcomes(HERE)


def table(outcomes: dict[str, Outcomes]) -> str:
    """Returns a row for each cell, rule and policy: means over seeds, ± their deviation."""
    lines = [
        "| α | p_bc | rule | policy | F1, last fifth | units | mean age | seeds × epochs |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for alpha, p, rule, policy in itertools.product(ALPHAS, HARVESTS, outcomes, POLICIES):
        own = list(_runs(outcomes, alpha, p, rule, policy).values())
        if own:
            numbers = [
                mean_and_spread([getattr(one, name) for one in own], digits)
                for name, digits in (("late_f1", 3), ("energy", 0), ("age_delivered", 2))
            ]
            head = f"| {alpha:g} | {p:g} | {RULES[rule]} | {NAMES[policy]} "
            lines.append(f"{head}| {' | '.join(numbers)} | {len(own)} × {own[0].epochs} |")
    return "\n".join(lines)


def differences(outcomes: dict[str, Outcomes]) -> str:
    """Returns VAoI minus each other policy, paired over seeds, with 95 % intervals."""
    lines = [
        "| α | p_bc | rule | VAoI minus | F1, last fifth | units | mean age | seeds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for alpha, p, rule, policy in itertools.product(ALPHAS, HARVESTS, outcomes, POLICIES[1:]):
        ours, others = (_runs(outcomes, alpha, p, rule, name) for name in ("vaoi", policy))
        common = sorted(ours.keys() & others.keys())
        if common:
            cells = [
                paired(*({seed: getattr(side[seed], name) for seed in common} for side in (ours, others))).markdown(
                    digits
                )
                for name, digits in (("late_f1", "+.3f"), ("energy", "+,.0f"), ("age_delivered", "+.2f"))
            ]
            head = f"| {alpha:g} | {p:g} | {RULES[rule]} | {NAMES[policy]} "
            lines.append(f"{head}| {' | '.join(cells)} | {len(common)} |")
    return "\n".join(lines)


def verdicts(outcomes: dict[str, Outcomes]) -> str:
    """Returns the verdict on each claim under each rule."""
    return "\n".join(verdict_table(_judge(outcomes)))


def verdicts_by_cell(outcomes: dict[str, Outcomes]) -> str:
    """Returns the verdict on each claim in each cell, a table for each rule."""
    judged = _judge(outcomes)
    return "\n\n".join("\n".join([f"With the rule `{rule}`:", "", *cell_table(judged, rule)]) for rule in judged.claims)


def in_time(outcomes: dict[str, Outcomes]) -> str:
    """Returns what the reserve changes, paired over seeds, with 95 % intervals."""
    lines = [
        "| α | rule | policy | F1, any time | F1, in time | difference | units, any time | units, in time | seeds |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    reserved = load_outcomes(HERE / "reserve")
    for alpha, rule, policy in itertools.product(ALPHAS, reserved, POLICIES):
        free, held = (_runs(own, alpha, 0.01, rule, policy) for own in (outcomes, reserved))
        common = sorted(free.keys() & held.keys())
        if common:
            f1, units = (
                [[getattr(side[seed], name) for seed in common] for side in (free, held)]
                for name in ("late_f1", "energy")
            )
            difference = paired(*(dict(zip(common, side, strict=True)) for side in reversed(f1))).markdown("+.3f")
            scores, energies = (
                [mean_and_spread(side, digits) for side in own] for own, digits in ((f1, 3), (units, 0))
            )
            head = f"| {alpha:g} | {RULES[rule]} | {NAMES[policy]} "
            lines.append(f"{head}| {' | '.join([*scores, difference, *energies])} | {len(common)} |")
    return "\n".join(lines)


def _judge(outcomes: dict[str, Outcomes]) -> Judgement:
    return judge({rule: own.runs for rule, own in outcomes.items()}, FEATURES, PARAMETERS)


def _runs(outcomes: dict[str, Outcomes], alpha: float, p: float, rule: str, policy: str) -> dict[int, Outcome]:
    """Returns the runs of one cell under one rule and policy, by seed."""
    return {
        seed: one for (cell, name, seed), one in outcomes[rule].runs.items() if (cell, name) == ((alpha, p), policy)
    }


if __name__ == "__main__":
    found = read_rows()
    print(*(show(found) for show in (table, differences, in_time, verdicts, verdicts_by_cell)), sep="\n\n")
