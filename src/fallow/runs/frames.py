"""Runs as pandas frames, for notebooks; pandas comes with ``pip install 'fallow[notebook]'``."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fallow.errors import FallowError, RunDirectoryError
from fallow.runs.directory import EPOCHS, EVENTS, is_finished, read_experiment, read_summary, unreadable

if TYPE_CHECKING:
    import pandas as pd

    from fallow.experiment import Experiment


@dataclass(frozen=True)
class Run:
    """A run directory, read.

    Attributes:
        experiment: What was run.
        epochs: A row an epoch.
        events: A row an event; None where none were written.
        summary: The totals; None of a run that is not finished.
    """

    experiment: "Experiment"
    epochs: "pd.DataFrame"
    events: "pd.DataFrame | None"
    summary: dict[str, Any] | None


def load(directory: Path | str) -> Run:
    """Returns the tables of a run directory; ``docs/metrics.md`` describes their columns."""
    try:
        import pandas  # noqa: F401
    except ImportError as error:
        raise FallowError("Reading runs as frames needs pandas: pip install 'fallow[notebook]'.") from error
    directory = Path(directory)
    experiment = read_experiment(directory)
    finished = is_finished(directory)
    return Run(
        experiment,
        _read_table(directory / EPOCHS),
        _read_table(directory / EVENTS) if finished and experiment.output.events else None,
        read_summary(directory) if finished else None,
    )


def _read_table(path: Path) -> "pd.DataFrame":
    import pandas as pd
    import pyarrow as pa

    try:
        with path.open("rb") as file:
            table = pd.read_csv(file) if path.suffix == ".csv" else pd.read_parquet(file)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise unreadable(path, error) from error
    if "epoch" not in table:
        raise RunDirectoryError(f"{path} has no column 'epoch'; it is not the table of a run.")
    return table
