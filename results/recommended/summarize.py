"""Adds the runs of step 2 (protocol.md) to confirmation.csv, and prints the tables of docs/results.md.

python results/recommended/summarize.py runs/confirmation
"""

import argparse
import csv
from pathlib import Path

import numpy as np

from fallow.runs.layout import SUMMARY
from fallow.runs.reader import read_epochs, read_settings, read_summary
from fallow.study.intervals import interval
from fallow.study.overview import mean_and_spread
from fallow.study.results import Series

TABLE = Path(__file__).parent / "confirmation.csv"
ARMS = {
    "random-k, reserve": "random-k with the reserve: ours",
    "vaoi": "VAoI",
    "random-k": "random-k",
}
"""Who trains; everything else is the same in the three."""
Row = dict[str, str]


def read(folders: list[Path]) -> list[Row]:
    rows = []
    for path in sorted(path for folder in folders for path in folder.rglob(SUMMARY)):
        settings, summary = read_settings(path.parent), read_summary(path.parent)
        arm = settings["policy"]["name"] + (", reserve" if settings["policy"]["reserve"] else "")
        rows.append(
            {
                "p": str(settings["energy"]["p"]),
                "selection": arm,
                "seed": str(settings["seed"]),
                "late_f1": f"{Series(read_epochs(path.parent)).late_f1():.4f}",
                **{name: f"{summary[name]:.4f}" for name in ("best_f1", "accuracy")},
                **{name: str(summary[name]) for name in ("energy_total", "starts", "uploads", "stale_uploads")},
            }
        )
    return rows


def ordered(rows: list[Row]) -> list[Row]:
    """Returns the rows by cell, arm and seed; of two of the same run the later one."""
    by_place = {(float(row["p"]), list(ARMS).index(row["selection"]), int(row["seed"])): row for row in rows}
    return [by_place[place] for place in sorted(by_place)]


def of(rows: list[Row], p: str, arm: str) -> dict[str, Row]:
    """Returns the rows of a cell and an arm by seed."""
    return {row["seed"]: row for row in rows if (row["p"], row["selection"]) == (p, arm)}


def cells_of(rows: list[Row]) -> list[str]:
    return sorted({row["p"] for row in rows}, key=float)


def table(rows: list[Row]) -> str:
    lines = [
        "| p_bc | selection | F1, last fifth | best F1 | units | updates | late | seeds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for p in cells_of(rows):
        for arm, words in ARMS.items():
            own = of(rows, p, arm).values()
            if not own:
                continue
            cells = [
                mean_and_spread([float(row[name]) for row in own], digits)
                for name, digits in (("late_f1", 3), ("best_f1", 3), ("energy_total", 0), ("uploads", 0))
            ]
            late = np.mean([float(row["stale_uploads"]) / float(row["uploads"]) for row in own])
            lines.append(f"| {' | '.join([p, words, *cells, f'{late:.0%}', str(len(own))])} |")
    return "\n".join(lines)


def differences(rows: list[Row]) -> str:
    lines = ["| p_bc | ours minus | F1, last fifth | units | seeds |", "|---|---|---|---|---|"]
    first, *others = ARMS
    for p in cells_of(rows):
        ours = of(rows, p, first)
        for arm in others:
            other = of(rows, p, arm)
            pairs = [(ours[seed], other[seed]) for seed in sorted(ours.keys() & other.keys())]
            if not pairs:
                continue
            f1 = interval([float(one["late_f1"]) - float(two["late_f1"]) for one, two in pairs])
            units = interval([float(one["energy_total"]) / float(two["energy_total"]) - 1 for one, two in pairs])
            lines.append(f"| {p} | {ARMS[arm]} | {f1.markdown('+.3f')} | {units.markdown('+.1%')} | {len(pairs)} |")
    return "\n".join(lines)


def read_rows() -> list[Row]:
    with TABLE.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "folders", type=Path, nargs="*", help="of runs; none: only print the tables of confirmation.csv"
    )
    folders = parser.parse_args().folders
    if folders:
        rows = ordered(read_rows() + read(folders))
        with TABLE.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    rows = read_rows()
    print(table(rows), differences(rows), sep="\n\n")


if __name__ == "__main__":
    main()
