"""The readings from plan to page."""

from dataclasses import dataclass
from pathlib import Path

from fallow.errors import FallowError
from fallow.storage.files import write_atomically
from fallow.study.readings.agreement import Combination, combine
from fallow.study.readings.figure import draw_readings
from fallow.study.readings.page import readings_page
from fallow.study.readings.spent import TABLE, Spent, load_spent, read_spent, write_spent
from fallow.sweeps.execute import SweepResult, execute
from fallow.sweeps.grid import PlannedRun
from fallow.sweeps.progress import Observer

PAGE = "readings.md"


@dataclass(frozen=True)
class Readings:
    """What came of the readings.

    Attributes:
        combinations: Every combination of which all runs are there.
        page: The page, as Markdown.
        figures: The files of the picture.
    """

    combinations: list[Combination]
    page: Path
    figures: list[Path]


def run_readings(
    runs: list[PlannedRun], out: Path, workers: int = 0, observer: Observer | None = None
) -> tuple[SweepResult, Readings | None]:
    """Carries out the runs, and returns what came of them; None as long as no combination is complete.

    Args:
        runs: Those of `plan_readings`; what is finished is kept.
        out: The folder of the study, where the table, the page and the picture go.
        workers: Runs at a time; 0 is one for each processor.
        observer: Hears how it goes.
    """
    sweep = execute(runs, out, workers=workers, observer=observer)
    rows = read_spent(runs)
    if not combine(rows):
        return sweep, None
    write_spent(rows, out / TABLE)
    return sweep, show_readings(rows, out)


def show_readings(rows: list[Spent], out: Path) -> Readings:
    """Writes the page and the picture of a table, and returns where they are.

    Args:
        rows: What each policy spent under each reading.
        out: Where they go.

    Raises:
        FallowError: No combination is complete.
    """
    combinations = combine(rows)
    if not combinations:
        raise FallowError("The table has no combination of readings with all four policies at all three p_bc.")
    out.mkdir(parents=True, exist_ok=True)
    figures = draw_readings(rows, out)
    write_atomically(out / PAGE, readings_page(combinations, min(row.seeds for row in rows)).encode())
    return Readings(combinations, out / PAGE, figures)


def readings_from(folder: Path, out: Path) -> Readings:
    """Draws the readings from a table that was kept, and returns where they are.

    Args:
        folder: It holds readings.csv.
        out: Where page and picture go.

    Raises:
        FallowError: The table can't be read.
    """
    return show_readings(load_spent(folder / TABLE), out)
