"""What each policy spent under each reading, and how old its clients were: a small table, as CSV."""

import csv
import io
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import mean

from fallow.errors import FallowError
from fallow.runs.layout import is_finished
from fallow.runs.reader import read_summary
from fallow.storage.files import write_atomically
from fallow.study.readings.plan import READINGS
from fallow.sweeps.grid import PlannedRun

TABLE = "readings.csv"


@dataclass(frozen=True)
class Spent:
    """A policy under one reading, its means over seeds.

    Attributes:
        policy: Its name.
        reading: The values of its own readings, as in "across-epochs fixed"; empty if it has none.
        starts: Most starts an epoch; 0 is no limit.
        significance: How likely a change was significant.
        p: p_bc.
        energy: Units consumed.
        age_selected: Mean version age where being selected resets it.
        age_delivered: Mean version age where an update received resets it.
        seeds: How many.
    """

    policy: str
    reading: str
    starts: int
    significance: float
    p: float
    energy: float
    age_selected: float
    age_delivered: float
    seeds: int


Key = tuple[str, str, int, float, float]
"""Policy, reading, starts, significance, p_bc."""


def read_spent(runs: Iterable[PlannedRun]) -> list[Spent]:
    """Returns what finished runs came to, a mean over seeds for each policy and reading.

    Args:
        runs: Those that are not finished are left out.
    """
    found: dict[Key, list[tuple[float, float, float]]] = defaultdict(list)
    for run in runs:
        if is_finished(run.directory):
            summary = read_summary(run.directory)
            point = run.point
            reading = " ".join(str(point[name]) for name in READINGS[point["policy.name"]])
            starts, significance = point["starts_per_epoch"], point["learning.significance"]
            found[point["policy.name"], reading, starts, significance, point["energy.p"]].append(
                (summary["energy_total"], summary["mean_age_selected"], summary["mean_age_delivered"])
            )
    return [_mean(key, numbers) for key, numbers in found.items()]


def write_spent(rows: Iterable[Spent], path: Path) -> None:
    """Writes the table.

    Args:
        rows: What policies spent.
        path: The file.
    """
    file = io.StringIO()
    writer = csv.DictWriter(file, [field.name for field in fields(Spent)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    write_atomically(path, file.getvalue().encode())


def load_spent(path: Path) -> list[Spent]:
    """Returns the rows of a table that `write_spent` wrote.

    Args:
        path: The file.

    Raises:
        FallowError: It can't be read, or is no such table.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [_row(row) for row in csv.DictReader(file)]
    except OSError as error:
        raise FallowError(f"{path} can't be read: {error.strerror or error}.") from error
    except (KeyError, TypeError, ValueError) as error:
        raise FallowError(f"{path} is not a table that `fallow paper --readings` wrote.") from error


def _mean(key: Key, numbers: list[tuple[float, float, float]]) -> Spent:
    energy, selected, delivered = (round(mean(column), 4) for column in zip(*numbers, strict=True))
    return Spent(*key, energy, selected, delivered, len(numbers))


def _row(row: dict[str, str]) -> Spent:
    energy, selected, delivered = (float(row[name]) for name in ("energy", "age_selected", "age_delivered"))
    key = row["policy"], row["reading"], int(row["starts"]), float(row["significance"]), float(row["p"])
    return Spent(*key, energy, selected, delivered, int(row["seeds"]))
