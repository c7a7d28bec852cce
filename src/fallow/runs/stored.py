"""A run that lies in a directory."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fallow.errors import RunDirectoryError
from fallow.runs.layout import CLIENT_SCORES, CLIENTS, DEVICES, EVENT_PARTS, EVENTS, MODEL, SCORE_PARTS, is_finished
from fallow.runs.reader import (
    Column,
    read_devices,
    read_model,
    read_settings,
    read_summary,
    read_typed_epochs,
    unreadable,
)
from fallow.storage.files import check_plain

if TYPE_CHECKING:
    import pyarrow as pa

    from fallow.learning.network import Network


class StoredRun:
    """Reads a run directory piece by piece; only `network` imports what its config names.

    Attributes:
        directory: Where it is.
        settings: The resolved config, by section.
        summary: The totals; None of a run that is not finished.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.settings = read_settings(directory)
        self.summary = read_summary(directory) if is_finished(directory) else None

    def epochs(self) -> dict[str, Column]:
        """Returns the columns of epochs.csv, each of shape (T,), int64 or float64."""
        return read_typed_epochs(self.directory)

    def events(self) -> "pa.Table | None":
        """Returns events.parquet; before the end, the events until the last checkpoint. None where none are kept."""
        if not self.settings.get("output", {}).get("events", True):
            return None
        from fallow.runs.event_table import EVENT_SCHEMA

        return self._parted(EVENTS, EVENT_PARTS, EVENT_SCHEMA)

    def clients(self) -> dict[str, NDArray[Any]] | None:
        """Returns the columns of clients.parquet; None before the end, and where an older version wrote none."""
        path = self.directory / CLIENTS
        if self.summary is None or not path.exists():
            return None
        table = _read_parquet(path)
        return {name: table.column(name).to_numpy() for name in table.column_names}

    def devices(self) -> list[dict[str, Any]] | None:
        """Returns the rows of devices.csv, whole numbers but for the class's name; None where there are no classes."""
        path = self.directory / DEVICES
        return read_devices(path, finished=self.summary is not None) if path.exists() else None

    def client_scores(self) -> "pa.Table | None":
        """Returns client_scores.parquet; before the end, until the last checkpoint. None where none are kept."""
        learning = self.settings.get("learning", {})
        if learning.get("mode") != "train" or not learning.get("client_eval_every", 0):
            return None
        from fallow.runs.score_table import SCORE_SCHEMA

        return self._parted(CLIENT_SCORES, SCORE_PARTS, SCORE_SCHEMA)

    def _parted(self, name: str, folder: str, schema: "pa.Schema") -> "pa.Table":
        """Returns a table that is kept in parts until the run is finished."""
        if self.summary is not None:
            return _read_parquet(self.directory / name)
        import pyarrow as pa

        tables = [schema.empty_table()]
        for path in sorted((self.directory / folder).glob("*.parquet")):
            tables.append(_read_parquet(path))
            if not tables[-1].schema.equals(schema):
                raise unreadable(path, ValueError("it has other columns than the table that it is a part of"))
        return pa.concat_tables(tables)

    def network(self) -> "Network":
        """Returns the network of the config with the weights of the run's end.

        Raises:
            RunDirectoryError: The run learnt nothing, is not finished, or its model does not fit its config.
        """
        from fallow.learning.network import build_network
        from fallow.runs.begun import read_experiment
        from fallow.simulation.learner_setup import load_dataset

        path = self.directory / MODEL
        arrays = read_model(self.directory)
        experiment = read_experiment(self.directory)
        dataset = load_dataset(experiment)
        network = build_network(experiment.build("model"), dataset.x.shape[1:], dataset.classes, experiment.seed)
        if {name: array.shape for name, array in arrays.items()} != network.shapes:
            raise RunDirectoryError(f"{path} does not fit the model that {self.directory}'s config describes.")
        network.load(np.concatenate([arrays[name].reshape(-1) for name in network.shapes]))
        return network


def _read_parquet(path: Path) -> "pa.Table":
    """Returns a table. Arrow opens the file itself, and no thread of Arrow's takes part.

    Given a Python file, ``pq.read_table`` lets go of it in a thread of its own, now and then after the interpreter has
    begun to end: then the process aborts ('terminate called without an active exception').
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        check_plain(path)
        with pa.OSFile(str(path)) as source, pq.ParquetFile(source) as file:
            return file.read(use_threads=False)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise unreadable(path, error) from error
