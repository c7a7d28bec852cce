"""Makes confirmation.csv from the sweeps of step 2 (protocol.md), and prints the tables of docs/results.md.

python results/recommended/summarize.py runs/confirmation
"""

import argparse
import csv
from pathlib import Path

import numpy as np

from fallow.runs.layout import SUMMARY
from fallow.runs.reader import read_epochs, read_settings, read_summary
from fallow.study.intervals import Interval, interval
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
    return sorted(rows, key=lambda row: (float(row["p"]), list(ARMS).index(row["selection"]), int(row["seed"])))


def arms(rows: list[Row], p: str) -> dict[str, dict[str, Row]]:
    """Returns the rows by arm and seed."""
    return {arm: {row["seed"]: row for row in rows if (row["p"], row["selection"]) == (p, arm)} for arm in ARMS}


def table(rows: list[Row], p: str) -> str:
    lines = [
        "| selection | F1, last fifth | best F1 | units | updates | late | seeds |",
        "|---|---|---|---|---|---|---|",
    ]
    for arm, own in arms(rows, p).items():
        cells = [
            mean_and_spread([float(row[name]) for row in own.values()], digits)
            for name, digits in (("late_f1", 3), ("best_f1", 3), ("energy_total", 0), ("uploads", 0))
        ]
        late = np.mean([float(row["stale_uploads"]) / float(row["uploads"]) for row in own.values()])
        lines.append(f"| {' | '.join([ARMS[arm], *cells, f'{late:.0%}', str(len(own))])} |")
    return "\n".join(lines)


def differences(rows: list[Row], p: str) -> str:
    own, *others = arms(rows, p).items()
    lines = ["| ours minus | F1, last fifth | units | seeds |", "|---|---|---|---|"]
    for arm, other in others:
        pairs = [(own[1][seed], other[seed]) for seed in sorted(own[1].keys() & other.keys())]
        f1 = interval([float(one["late_f1"]) - float(two["late_f1"]) for one, two in pairs])
        units = interval([float(one["energy_total"]) / float(two["energy_total"]) - 1 for one, two in pairs])
        lines.append(f"| {ARMS[arm]} | {_bold(f1, '+.3f')} | {_bold(units, '+.1%')} | {len(pairs)} |")
    return "\n".join(lines)


def _bold(one: Interval, digits: str) -> str:
    text = f"{one.mean:{digits}} ({one.low:{digits}} to {one.high:{digits}})"
    return f"**{text}**" if one.low > 0 or one.high < 0 else text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="*", help="sweeps; none: only print the tables of confirmation.csv")
    folders = parser.parse_args().folders
    if folders:
        rows = read(folders)
        with TABLE.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    with TABLE.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for p in sorted({row["p"] for row in rows}, key=float):
        print(f"p_bc = {p}", table(rows, p), differences(rows, p), sep="\n\n", end="\n\n")


if __name__ == "__main__":
    main()
