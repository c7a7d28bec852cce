"""Makes the tables and figures of this folder from the runs of the sweeps in docs/results.md.

python results/hardest-cell/summarize.py runs/hardest runs/chance runs/chance-shrinkage
"""

import argparse
import csv
import itertools
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from fallow.runs.layout import SUMMARY
from fallow.runs.reader import read_epochs, read_settings, read_summary
from fallow.study.figures import COLOURS, DASHES
from fallow.study.grid import NAMES, POLICIES
from fallow.study.intervals import interval
from fallow.study.overview import mean_and_spread
from fallow.study.results import Series

mpl.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
PICTURE = HERE.parents[1] / "docs" / "images" / "hardest-cell.png"
RULES = {"received": "the paper's aggregation", "shrinkage": "shrinkage, m = 5"}
WITHOUT_AGE = ("random-k", "round-robin")
"""Policies that choose as many clients as VAoI, whatever their ages."""
Runs = dict[tuple[str, str, int], tuple[dict[str, Any], Series]]
"""Summary and epochs by aggregation, policy and seed."""


def read(folders: list[Path]) -> Runs:
    runs: Runs = {}
    for path in sorted(path for folder in folders for path in folder.glob(f"*/{SUMMARY}")):
        settings = read_settings(path.parent)
        key = (settings["aggregation"]["name"], settings["policy"]["name"], settings["seed"])
        runs[key] = (read_summary(path.parent), Series(read_epochs(path.parent)))
    return runs


def seeds(runs: Runs, rule: str, *policies: str) -> list[int]:
    return sorted(set.intersection(*({s for r, p, s in runs if (r, p) == (rule, policy)} for policy in policies)))


def write_tables(runs: Runs) -> None:
    with (HERE / "runs.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        names = ["f1", "best_f1", "accuracy", "energy_total", "starts", "uploads", "stale_uploads"]
        names += ["clients_never_delivered", "mean_age_selected", "mean_age_delivered"]
        writer.writerow(["aggregation", "policy", "seed", "late_f1", "jump", *names])
        for (rule, policy, seed), (summary, series) in sorted(runs.items()):
            scores = [f"{series.late_f1():.4f}", f"{jump(series):.4f}"]
            writer.writerow([rule, policy, seed, *scores, *(summary[name] for name in names)])
    with (HERE / "scores.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["aggregation", "policy", "seed", "epoch", "f1", "accuracy", "energy_total"])
        for (rule, policy, seed), (_, series) in sorted(runs.items()):
            for epoch in np.flatnonzero(~np.isnan(series.epochs["f1"])):
                f1, accuracy = (f"{series.epochs[name][epoch]:.4f}" for name in ("f1", "accuracy"))
                writer.writerow(
                    [rule, policy, seed, epoch + 1, f1, accuracy, int(series.epochs["energy_total"][epoch])]
                )


def read_rows() -> list[dict[str, str]]:
    with (HERE / "runs.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table(rows: list[dict[str, str]]) -> str:
    """Returns the table of the documentation from the rows of runs.csv: means over seeds, ± their deviation."""
    lines = ["| aggregation | policy | F1, last fifth | best F1 | jumps | units | updates | late | mean age | seeds |"]
    lines.append("|---|---|---|---|---|---|---|---|---|---|")
    for rule, policy in itertools.product(RULES, (*POLICIES, *WITHOUT_AGE)):
        own = [row for row in rows if (row["aggregation"], row["policy"]) == (rule, policy)]
        if own:
            cells = [
                mean_and_spread([float(row[name]) for row in own], digits)
                for name, digits in (("late_f1", 3), ("best_f1", 3), ("jump", 3), ("energy_total", 0), ("uploads", 0))
            ]
            late = np.mean([float(row["stale_uploads"]) / float(row["uploads"]) for row in own])
            age = mean_and_spread([float(row["mean_age_delivered"]) for row in own], 2)
            lines.append(
                f"| {' | '.join([f'`{rule}`', NAMES.get(policy, policy), *cells, f'{late:.0%}', age, str(len(own))])} |"
            )
    return "\n".join(lines)


def short_table(rows: list[dict[str, str]]) -> str:
    """Returns the table of the README: F1 and units of each policy under each rule."""
    lines = ["| policy | " + " | ".join(f"F1, {title} | units" for title in RULES.values()) + " |"]
    lines.append("|---|" + "---|---|" * len(RULES))
    for policy in POLICIES:
        cells = [f"`{policy}`"]
        for rule in RULES:
            own = [row for row in rows if (row["aggregation"], row["policy"]) == (rule, policy)]
            for name, digits in (("late_f1", 3), ("energy_total", 0)):
                cells.append(mean_and_spread([float(row[name]) for row in own], digits) if own else "–")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def jump(series: Series) -> float:
    """Returns the mean change of F1 from one evaluation to the next, up or down."""
    f1 = series.epochs["f1"]
    return float(np.abs(np.diff(f1[~np.isnan(f1)])).mean())


def differences(rows: list[dict[str, str]]) -> str:
    """Returns the table of VAoI minus each other policy, paired by seed, with 95 % intervals; bold leaves out zero."""
    found = {(row["aggregation"], row["policy"], row["seed"]): row for row in rows}
    lines = ["| aggregation | VAoI minus | F1, last fifth | units | mean age | seeds |", "|---|---|---|---|---|---|"]
    for rule, other in itertools.product(RULES, (*POLICIES[1:], *WITHOUT_AGE)):
        own = [
            (row, found.get((rule, other, seed)))
            for (r, policy, seed), row in found.items()
            if (r, policy) == (rule, "vaoi")
        ]
        pairs = [(one, two) for one, two in own if two is not None]
        if pairs:
            f1, age = (
                interval([float(one[name]) - float(two[name]) for one, two in pairs]).markdown(digits)
                for name, digits in (("late_f1", "+.3f"), ("mean_age_delivered", "+.2f"))
            )
            units = interval([float(one["energy_total"]) / float(two["energy_total"]) - 1 for one, two in pairs])
            cells = [f"`{rule}`", NAMES.get(other, other), f1, units.markdown("+.1%"), age, str(len(pairs))]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def draw(runs: Runs) -> None:
    rules = {rule: title for rule, title in RULES.items() if any(key[0] == rule for key in runs)}
    figure, grid = plt.subplots(1, len(rules), figsize=(4.5 * len(rules), 3.4), sharey=True, squeeze=False)
    axes = grid[0]
    for axis, (rule, title) in zip(axes, rules.items(), strict=True):
        for policy in POLICIES:
            own = [runs[rule, policy, seed][1].epochs["f1"] for seed in seeds(runs, rule, policy)]
            if not own:
                continue
            values = np.stack(own)
            measured = np.flatnonzero(~np.isnan(values).any(axis=0))
            values = values[:, measured]
            style = {"color": COLOURS[policy], "linewidth": 1.3}
            axis.plot(measured + 1, values.mean(axis=0), DASHES[policy], label=NAMES[policy], **style)
            if len(own) > 1:
                axis.fill_between(
                    measured + 1, values.min(axis=0), values.max(axis=0), alpha=0.12, linewidth=0, color=COLOURS[policy]
                )
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("epoch")
        axis.grid(alpha=0.25)
    axes[0].set_ylabel("F1, macro")
    axes[0].legend(fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=150)
    figure.savefig(HERE / "f1.pdf", metadata={"CreationDate": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    runs = read(parser.parse_args().folders)
    write_tables(runs)
    draw(runs)
    rows = read_rows()
    print(table(rows), short_table(rows), differences(rows), sep="\n\n")


if __name__ == "__main__":
    main()
