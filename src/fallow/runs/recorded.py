"""A run that stays in memory."""

import tomllib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fallow.errors import FallowError
from fallow.runs.clients import client_columns
from fallow.runs.event_table import events_table
from fallow.runs.origins import find_origin
from fallow.runs.reader import Column
from fallow.runs.summary import Totals, summarise
from fallow.simulation.engine import Engine
from fallow.simulation.records import EpochRecord, columns

if TYPE_CHECKING:
    import pyarrow as pa

    from fallow.learning.network import Network


class RecordedRun:
    """Keeps the records of a run as they come.

    Attributes:
        directory: None: the run is in memory.
        settings: The resolved config, by section.
        summary: The totals; None as long as the run is not finished.
    """

    directory = None

    def __init__(self, engine: Engine) -> None:
        self.settings: dict[str, Any] = tomllib.loads(engine.experiment.to_toml())
        self.summary: dict[str, Any] | None = None
        self._engine = engine
        self._totals = Totals()
        self._records: list[EpochRecord] = []
        self._origin = find_origin(engine)

    def add(self, record: EpochRecord) -> None:
        """Keeps the next epoch.

        Args:
            record: What the engine returned for it.
        """
        self._records.append(record)
        self._totals.add(record)
        if len(self._records) == self._engine.experiment.epochs:
            self.summary = summarise(self._engine, self._totals, (self._origin,))

    def epochs(self) -> dict[str, Column]:
        """Returns the columns that epochs.csv would have, each of shape (T,), int64 or float64."""
        rows = [record.row() for record in self._records]
        names = columns(self._engine.classes, extended=self._engine.world.physics.extended)
        return {name: _column([row.get(name) for row in rows]) for name in names}

    def events(self) -> "pa.Table | None":
        """Returns the table that events.parquet would hold; None where none are kept."""
        if not self._engine.experiment.output.events:
            return None
        return events_table([(record.epoch, record.events) for record in self._records])

    def clients(self) -> dict[str, NDArray[Any]] | None:
        """Returns the columns that clients.parquet would have, each of shape (N,); None before the end."""
        if self.summary is None:
            return None
        learner = self._engine.learner
        scores = learner.evaluate_clients() if learner else None
        return client_columns(self._engine.world, self._engine.epoch, scores, self._engine.experiment)

    def devices(self) -> list[dict[str, Any]] | None:
        """Returns the rows that devices.csv would have; None where there are no classes of devices."""
        books = self._engine.device_books
        if books is None:
            return None
        return [row.cells(record.epoch, books.columns) for record in self._records for row in record.devices]

    def client_scores(self) -> "pa.Table | None":
        """Returns the table that client_scores.parquet would hold; None where none are kept."""
        if not (self._engine.learner and self._engine.experiment.learning.client_eval_every):
            return None
        from fallow.runs.score_table import scores_table

        made = ((record.epoch, record.client_scores) for record in self._records)
        return scores_table([(epoch, scores) for epoch, scores in made if scores is not None])

    def network(self) -> "Network":
        """Returns a copy of the engine's network with its latest weights.

        Raises:
            FallowError: The run learnt nothing.
        """
        learner = self._engine.learner
        if learner is None:
            raise FallowError("This run learnt nothing (learning.mode = 'none'), so it has no model.")
        network = learner.task.network.replica()
        network.load(learner.handed_out)
        return network


def _column(cells: list[int | float | None]) -> Column:
    if cells and all(isinstance(cell, int) for cell in cells):
        return np.array(cells, dtype=np.int64)
    return np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)
