"""What it took the runs of a study's points to reach an F1 score."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from fallow.errors import ConfigError
from fallow.runs.target import check_target, first_reached, reached_by_half
from fallow.study.members import StudyRun
from fallow.study.overview import NOTHING, Line
from fallow.study.spread import deviation_of, mean_of
from fallow.sweeps.grid import PlannedRun

NEVER = "never"


@dataclass(frozen=True)
class PointReached:
    """What it took the runs of a point to reach a score.

    Attributes:
        energy: Units spent until then, of each run that reached it.
        epochs: Epochs until then, of each run that reached it.
        runs: How many runs were evaluated, also those that never reached it.
    """

    energy: list[float]
    epochs: list[int]
    runs: int

    def numbers(self) -> dict[str, float | int]:
        """Returns the columns of a frame.

        Returns:
            Means and standard deviations over the runs that reached the score ("energy", "energy_sd"; NaN if none did),
            what half of all runs needed ("energy_median"; infinite if fewer ever reached it), the same for "epochs",
            and how many reached it ("reached").
        """
        columns: dict[str, float | int] = {}
        for name, values in (("energy", self.energy), ("epochs", self.epochs)):
            columns[name] = mean_of(values)
            columns[f"{name}_sd"] = deviation_of(values)
            columns[f"{name}_median"] = reached_by_half(values, self.runs) if self.runs else float("nan")
        return columns | {"reached": len(self.epochs)}

    def cells(self) -> list[str]:
        """Returns the cells of a table, as text: what half of the runs needed, and how many of them reached it."""
        if not self.runs:
            return [NOTHING] * 3
        halves = [reached_by_half(values, self.runs) for values in (self.energy, self.epochs)]
        shown = [NEVER if half == float("inf") else f"{half:,.0f}" for half in halves]
        return [*shown, f"{len(self.epochs)} of {self.runs}"]


def find_reached(line: Line, target: float) -> PointReached:
    """Returns what the runs of a point needed to reach an F1 score, by the evaluations that were made.

    Args:
        line: The runs of the point; those that do not learn are left out.
        target: The score to reach.
    """
    learning = [run for run in line.runs if _learns(run)]
    found = [reached for run in learning if (reached := first_reached(run.series.epochs, target))]
    return PointReached([one.energy for one in found], [one.epochs for one in found], len(learning))


def check_reachable(target: float, runs: Iterable[PlannedRun]) -> None:
    """Checks, before any run begins, that a target is an F1 score and that some run is evaluated.

    Args:
        target: The score to reach.
        runs: What is to be carried out.

    Raises:
        ConfigError: It is no F1 score, or no run learns.
    """
    check_target(target)
    if all(run.experiment.learning.mode == "none" for run in runs):
        raise ConfigError(f"No run can reach the target {target:g}, because none learns; set learning.mode to train.")


def list_reached(runs: Sequence[StudyRun], target: float) -> dict[str, Any]:
    """Returns for JSON what it took each run to reach a score; null for a run that never did.

    Args:
        runs: Of the study; those that do not learn are left out.
        target: The score to reach.
    """
    rows = []
    for run in filter(_learns, runs):
        found = first_reached(run.series.epochs, target)
        numbers = {"energy": found.energy, "epochs": found.epochs} if found else {"energy": None, "epochs": None}
        rows.append({**run.point, "seed": run.seed, **numbers})
    return {"target": target, "reached": rows}


def reached_headings(target: float) -> list[str]:
    """Returns the headings of `PointReached.cells`.

    Args:
        target: The score to reach.
    """
    return [f"units to F1 {target:g}", f"epochs to F1 {target:g}", "reached"]


def with_reached(
    headings: Sequence[str], rows: Sequence[Sequence[str]], lines: Sequence[Line], target: float
) -> tuple[list[str], list[list[str]]]:
    """Returns a table with what it took to reach a score, before its last column.

    Args:
        headings: Of the table.
        rows: The cells of each line, as text.
        lines: The runs of each point, in the same order.
        target: The score to reach.
    """
    reached = [find_reached(line, target).cells() for line in lines]
    wider = [[*row[:-1], *cells, row[-1]] for row, cells in zip(rows, reached, strict=True)]
    return [*headings[:-1], *reached_headings(target), headings[-1]], wider


def _learns(run: StudyRun) -> bool:
    return run.summary.get("f1") is not None
