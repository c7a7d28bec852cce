"""Runs as pandas frames, for notebooks; pandas comes with ``pip install 'fallow[notebook]'``."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fallow.errors import FallowError, RunDirectoryError
from fallow.runs.layout import EVENTS, is_finished
from fallow.runs.reader import read_settings, read_summary, read_typed_epochs, unreadable

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Run:
    """A run directory, read.

    Attributes:
        settings: The resolved config, by section.
        epochs: A row an epoch.
        events: A row an event; None where none were written.
        summary: The totals; None of a run that is not finished.
    """

    settings: dict[str, Any]
    epochs: "pd.DataFrame"
    events: "pd.DataFrame | None"
    summary: dict[str, Any] | None


def load(directory: Path | str) -> Run:
    """Returns the tables of a run directory; ``docs/metrics.md`` describes their columns."""
    try:
        import pandas as pd
    except ImportError as error:
        raise FallowError("Reading runs as frames needs pandas: pip install 'fallow[notebook]'.") from error
    directory = Path(directory)
    settings = read_settings(directory)
    finished = is_finished(directory)
    return Run(
        settings,
        pd.DataFrame(read_typed_epochs(directory)),
        _read_events(directory / EVENTS) if finished and settings["output"]["events"] else None,
        read_summary(directory) if finished else None,
    )


def _read_events(path: Path) -> "pd.DataFrame":
    import pandas as pd
    import pyarrow as pa

    try:
        with path.open("rb") as file:
            table = pd.read_parquet(file)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise unreadable(path, error) from error
    if "epoch" not in table:
        raise RunDirectoryError(f"{path} has no column 'epoch'; it is not the table of a run.")
    return table
