"""The small tables that are kept of the paper's study: a row for each run, the curves over epochs, and the variants."""

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
from fallow.study.sensitivity import Varied

RUNS, BANDS, VARIED = "runs.csv", "bands.csv", "sensitivity.csv"
NUMBERS = [one.name for one in fields(Outcome)]


def write_outcomes(outcomes: Mapping[str, Outcomes], folder: Path) -> None:
    """Writes the tables of the runs and of the curves.

    Args:
        outcomes: By rule.
        folder: Where they go.
    """
    folder.mkdir(parents=True, exist_ok=True)
    runs = [
        [rule, *cell, policy, seed, *map(_exact, _values(one))]
        for rule, own in outcomes.items()
        for (cell, policy, seed), one in sorted(own.runs.items())
    ]
    bands = [
        [rule, *cell, policy, what, band.seeds, *(f"{value:.5g}" for value in point)]
        for rule, own in outcomes.items()
        for (cell, policy, what), band in sorted(own.curves.items())
        for point in zip(band.epochs, band.mean, band.low, band.high, strict=True)
    ]
    _write(folder / RUNS, ["rule", "alpha", "p", "policy", "seed", *NUMBERS], runs)
    _write(folder / BANDS, ["rule", "alpha", "p", "policy", "curve", "seeds", "epoch", "mean", "low", "high"], bands)


def load_outcomes(folder: Path) -> dict[str, Outcomes]:
    """Returns what runs came to, by rule, from the tables that `write_outcomes` wrote.

    Args:
        folder: It holds runs.csv and bands.csv.

    Raises:
        FallowError: One can't be read, or is no such table.
    """
    found: dict[str, Outcomes] = defaultdict(Outcomes)
    for row in _rows(folder / RUNS):
        cell = (float(row["alpha"]), float(row["p"]))
        found[row["rule"]].runs[cell, row["policy"], int(row["seed"])] = _outcome(row)
    points: dict[tuple[str, Cell, str, str, int], list[list[float]]] = defaultdict(list)
    for row in _rows(folder / BANDS):
        cell = (float(row["alpha"]), float(row["p"]))
        place = (row["rule"], cell, row["policy"], row["curve"], int(row["seeds"]))
        points[place].append([float(row[name]) for name in ("epoch", "mean", "low", "high")])
    for (rule, cell, policy, what, seeds), own in points.items():
        epochs, mean, low, high = np.array(own).T
        found[rule].curves[cell, policy, what] = Band(epochs.astype(np.int64), mean, low, high, seeds)
    return dict(found)


def write_varied(varied: Varied, folder: Path) -> None:
    """Writes the table of the variants, if there are any.

    Args:
        varied: What their runs came to.
        folder: Where it goes.
    """
    if varied:
        rows = [[*key, *map(_exact, _values(one))] for key, one in sorted(varied.items())]
        _write(folder / VARIED, ["variant", "p", "seed", *NUMBERS], rows)


def load_varied(folder: Path) -> Varied:
    """Returns what the variants' runs came to, from the table that `write_varied` wrote; nothing if there is none.

    Args:
        folder: It may hold sensitivity.csv.

    Raises:
        FallowError: It can't be read.
    """
    if not (folder / VARIED).exists():
        return {}
    return {(row["variant"], float(row["p"]), int(row["seed"])): _outcome(row) for row in _rows(folder / VARIED)}


def _outcome(row: Mapping[str, str]) -> Outcome:
    values = [float(row[name]) for name in NUMBERS]
    return Outcome(int(values[0]), *values[1:])


def _values(one: Outcome) -> Iterator[float]:
    yield from (one.epochs, one.late_f1, one.energy, one.age_delivered, one.age_selected, one.energy_to_target)


def _exact(value: float) -> str:
    """Returns a number from which the same one can be read, so that studies in parts come to the same page."""
    return str(value).removesuffix(".0")


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
