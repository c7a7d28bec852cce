"""The two small tables that are kept of the paper's study: a row for each run, and the curves over epochs."""

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from fallow.errors import FallowError
from fallow.storage.files import write_atomically
from fallow.study.outcomes import Band, Cell, Outcome, Outcomes

RUNS, BANDS = "runs.csv", "bands.csv"


def write_outcomes(outcomes: Mapping[str, Outcomes], folder: Path) -> None:
    """Writes both tables.

    Args:
        outcomes: By rule.
        folder: Where they go.
    """
    folder.mkdir(parents=True, exist_ok=True)
    numbers = [one.name for one in fields(Outcome)]
    runs = [
        [rule, *cell, policy, seed, *(f"{value:.10g}" for value in _values(one))]
        for rule, own in outcomes.items()
        for (cell, policy, seed), one in sorted(own.runs.items())
    ]
    bands = [
        [rule, *cell, policy, what, band.seeds, *(f"{value:.5g}" for value in point)]
        for rule, own in outcomes.items()
        for (cell, policy, what), band in sorted(own.curves.items())
        for point in zip(band.epochs, band.mean, band.low, band.high, strict=True)
    ]
    _write(folder / RUNS, ["rule", "alpha", "p", "policy", "seed", *numbers], runs)
    _write(folder / BANDS, ["rule", "alpha", "p", "policy", "curve", "seeds", "epoch", "mean", "low", "high"], bands)


def load_outcomes(folder: Path) -> dict[str, Outcomes]:
    """Returns what runs came to, by rule, from the tables that `write_outcomes` wrote.

    Args:
        folder: It holds both tables.

    Raises:
        FallowError: One can't be read, or is no such table.
    """
    found: dict[str, Outcomes] = defaultdict(Outcomes)
    for row in _rows(folder / RUNS):
        values = [float(row[one.name]) for one in fields(Outcome)]
        cell = (float(row["alpha"]), float(row["p"]))
        found[row["rule"]].runs[cell, row["policy"], int(row["seed"])] = Outcome(int(values[0]), *values[1:])
    points: dict[tuple[str, Cell, str, str, int], list[list[float]]] = defaultdict(list)
    for row in _rows(folder / BANDS):
        cell = (float(row["alpha"]), float(row["p"]))
        place = (row["rule"], cell, row["policy"], row["curve"], int(row["seeds"]))
        points[place].append([float(row[name]) for name in ("epoch", "mean", "low", "high")])
    for (rule, cell, policy, what, seeds), own in points.items():
        epochs, mean, low, high = np.array(own).T
        found[rule].curves[cell, policy, what] = Band(epochs.astype(np.int64), mean, low, high, seeds)
    return dict(found)


def _values(one: Outcome) -> Iterator[float]:
    yield from (one.epochs, one.late_f1, one.energy, one.age_delivered, one.age_selected, one.energy_to_target)


def _write(path: Path, heads: list[str], rows: Iterable[Iterable[Any]]) -> None:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(rows)
    write_atomically(path, file.getvalue().encode())


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as error:
        raise FallowError(f"{path} can't be read: {error}.") from error
