"""Makes runs.csv from the comparisons of docs/results.md under several harvests, and prints its tables.

python results/harvests/summarize.py runs/bernoulli runs/markov runs/markov-shared runs/solar
"""

import argparse
import csv
from pathlib import Path

from fallow.study.grid import NAMES, POLICIES
from fallow.study.intervals import interval
from fallow.study.overview import mean_and_spread

TABLE = Path(__file__).parent / "runs.csv"
HARVESTS = {
    "bernoulli": "Bernoulli, as in the paper",
    "markov": "good and bad spells",
    "markov-shared": "shared spells, c = 0.9",
    "solar": "a year of sun in Padova",
}
KEPT = ("policy", "seed", "f1", "best_f1", "harvested", "energy_total", "overflow", "starts", "mean_age_delivered")
Row = dict[str, str]


def read(folders: list[Path]) -> list[Row]:
    rows = []
    for folder in folders:
        with (folder / "table.csv").open(newline="", encoding="utf-8") as file:
            rows += [{"harvest": folder.name} | {name: row[name] for name in KEPT} for row in csv.DictReader(file)]
    return rows


def of(rows: list[Row], harvest: str, policy: str) -> dict[str, Row]:
    """Returns the rows of a harvest and a policy by seed."""
    return {row["seed"]: row for row in rows if (row["harvest"], row["policy"]) == (harvest, policy)}


def table(rows: list[Row]) -> str:
    lines = ["| harvest | policy | F1 | units | overflow | mean age | seeds |", "|---|---|---|---|---|---|---|"]
    for harvest, words in HARVESTS.items():
        for policy in POLICIES:
            own = of(rows, harvest, policy).values()
            cells = [
                mean_and_spread([float(row[name]) for row in own], digits)
                for name, digits in (("f1", 3), ("energy_total", 0), ("overflow", 0), ("mean_age_delivered", 2))
            ]
            lines.append(f"| {' | '.join([words, NAMES[policy], *cells, str(len(own))])} |")
    return "\n".join(lines)


def differences(rows: list[Row]) -> str:
    lines = ["| harvest | VAoI minus | F1 | units | mean age |", "|---|---|---|---|---|"]
    for harvest, words in HARVESTS.items():
        ours = of(rows, harvest, "vaoi")
        for policy in POLICIES[1:]:
            others = of(rows, harvest, policy)
            pairs = [(ours[seed], others[seed]) for seed in ours]
            f1, age = (
                interval([float(one[name]) - float(two[name]) for one, two in pairs])
                for name in ("f1", "mean_age_delivered")
            )
            units = interval([float(one["energy_total"]) / float(two["energy_total"]) - 1 for one, two in pairs])
            cells = [f1.markdown("+.3f"), units.markdown("+.1%"), age.markdown("+.2f")]
            lines.append(f"| {' | '.join([words, NAMES[policy], *cells])} |")
    return "\n".join(lines)


def read_rows() -> list[Row]:
    with TABLE.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="*", help="comparisons; none: only print the tables of runs.csv")
    folders = parser.parse_args().folders
    if folders:
        rows = read(folders)
        with TABLE.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    rows = read_rows()
    print(table(rows), differences(rows), sep="\n\n")


if __name__ == "__main__":
    main()
