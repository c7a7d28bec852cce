"""Runs as pandas frames, for notebooks; pandas comes with ``pip install 'fallow[notebook]'``."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fallow.errors import FallowError
from fallow.run_directory import EPOCHS, EVENTS, SUMMARY, is_finished, read_experiment

if TYPE_CHECKING:
    import pandas as pd

    from fallow.config import Experiment


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
        import pandas as pd
    except ImportError as error:
        raise FallowError("Reading runs as frames needs pandas: pip install 'fallow[notebook]'.") from error
    directory = Path(directory)
    experiment = read_experiment(directory)
    finished = is_finished(directory)
    return Run(
        experiment,
        pd.read_csv(directory / EPOCHS),
        pd.read_parquet(directory / EVENTS) if finished and experiment.output.events else None,
        json.loads((directory / SUMMARY).read_text(encoding="utf-8")) if finished else None,
    )
