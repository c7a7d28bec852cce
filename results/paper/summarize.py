"""The tables of docs/results.md from runs.csv, which `fallow paper` keeps.

python results/paper/summarize.py
"""

import csv
import itertools
from pathlib import Path

from fallow.study.grid import ALPHAS, HARVESTS, NAMES, POLICIES
from fallow.study.intervals import paired
from fallow.study.overview import mean_and_spread

HERE = Path(__file__).parent
RULES = {"paper": "the paper's", "recommended": "recommended"}


def read_rows() -> list[dict[str, str]]:
    with (HERE / "runs.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table(rows: list[dict[str, str]]) -> str:
    """Returns a row for each cell, rule and policy: means over seeds, ± their deviation."""
    lines = [
        "| α | p_bc | rule | policy | F1, last fifth | units | mean age | seeds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for alpha, p, rule, policy in itertools.product(ALPHAS, HARVESTS, RULES, POLICIES):
        own = list(_runs(rows, alpha, p, rule, policy).values())
        if own:
            numbers = [
                mean_and_spread([float(row[name]) for row in own], digits)
                for name, digits in (("late_f1", 3), ("energy", 0), ("age_delivered", 2))
            ]
            head = f"| {alpha:g} | {p:g} | {RULES[rule]} | {NAMES[policy]} "
            lines.append(f"{head}| {' | '.join(numbers)} | {len(own)} |")
    return "\n".join(lines)


def differences(rows: list[dict[str, str]]) -> str:
    """Returns VAoI minus each other policy, paired over seeds, with 95 % intervals."""
    lines = [
        "| α | p_bc | rule | VAoI minus | F1, last fifth | units | mean age | seeds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for alpha, p, rule, policy in itertools.product(ALPHAS, HARVESTS, RULES, POLICIES[1:]):
        ours, others = (_runs(rows, alpha, p, rule, name) for name in ("vaoi", policy))
        common = ours.keys() & others.keys()
        if common:
            cells = [
                paired(*({s: float(side[s][name]) for s in sorted(common)} for side in (ours, others))).markdown(digits)
                for name, digits in (("late_f1", "+.3f"), ("energy", "+,.0f"), ("age_delivered", "+.2f"))
            ]
            head = f"| {alpha:g} | {p:g} | {RULES[rule]} | {NAMES[policy]} "
            lines.append(f"{head}| {' | '.join(cells)} | {len(common)} |")
    return "\n".join(lines)


def _runs(rows: list[dict[str, str]], alpha: float, p: float, rule: str, policy: str) -> dict[int, dict[str, str]]:
    """Returns the runs of one cell under one rule and policy, by seed."""
    return {
        int(row["seed"]): row
        for row in rows
        if (float(row["alpha"]), float(row["p"]), row["rule"], row["policy"]) == (alpha, p, rule, policy)
    }


if __name__ == "__main__":
    print(table(read_rows()), differences(read_rows()), sep="\n\n")
