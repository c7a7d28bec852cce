"""MLflow: a run in a database in the run directory, or at MLFLOW_TRACKING_URI.

The network is used only if that address needs it: the telemetry of MLflow is off.
"""

import logging
import os
import shutil
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fallow.errors import TrackerError
from fallow.storage.files import write_atomically
from fallow.storage.locks import lock
from fallow.trackers.base import Row, TrackedRun, as_text

if TYPE_CHECKING:
    from mlflow import MlflowClient

FOLDER, STORE, IDENTITY = "mlflow", "mlflow.db", "id"
SQLITE = "sqlite:///"
MAKING_SECONDS = 300.0
"""How long to wait while another run of a sweep makes the tables of a shared database."""

TAG = "fallow_id"
"""The tag by which a run is found again after a kill; MLflow chooses its number itself."""


class MLflow:
    """A run in MLflow: in a database in the run directory, or at MLFLOW_TRACKING_URI."""

    NEEDS = ("mlflow", "sqlalchemy", "alembic")

    def begin(self, run: TrackedRun) -> None:
        """Begins a run in MLflow or finds it again, and adds the epochs that are missing there.

        Args:
            run: The run, with the epochs so far.

        Raises:
            TrackerError: The database can't be used.
        """
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # MLflow reads it when it is imported
        from mlflow.entities import Param

        logging.getLogger("mlflow").setLevel(logging.WARNING)  # it logs every table that it makes
        folder = run.directory / FOLDER
        known = (folder / IDENTITY).exists()
        if not known:
            shutil.rmtree(folder, ignore_errors=True)  # a kill may have left a store half made
        folder.mkdir(exist_ok=True)
        self._client = _connect(run.directory)
        if not known:
            write_atomically(folder / IDENTITY, uuid.uuid4().hex.encode())
        identity = (folder / IDENTITY).read_text(encoding="utf-8")
        self._run_id = _find_or_create(self._client, identity, run.directory)
        self._client.update_run(self._run_id, status="RUNNING")
        self._settings = run.settings
        settings = [Param(key, as_text(value)) for key, value in run.settings.items()]
        self._client.log_batch(self._run_id, params=settings)
        names = self._client.get_run(self._run_id).data.metrics
        self._there = {
            (name, point.step) for name in names for point in self._client.get_metric_history(self._run_id, name)
        }
        self.log(run.past)

    def log(self, rows: Sequence[Row]) -> None:
        """Sends the metrics of some epochs, except those that are there from before a kill."""
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        points = [
            Metric(name, float(value), now, int(row["epoch"]))
            for row in rows
            for name, value in row.items()
            if name != "epoch" and (name, row["epoch"]) not in self._there
        ]
        self._client.log_batch(self._run_id, metrics=points)

    def end(self, summary: Mapping[str, Any]) -> None:
        """Sends the totals as `summary/…` and marks the run as finished."""
        numbers = {name: value for name, value in summary.items() if isinstance(value, int | float)}
        totals = {f"summary/{name}": value for name, value in numbers.items() if name not in self._settings}
        self.log([totals | {"epoch": summary["epochs"]}])
        self._client.set_terminated(self._run_id)


def _connect(directory: Path) -> "MlflowClient":
    """Returns a client of the store at MLFLOW_TRACKING_URI, or of the database in the run directory."""
    address = os.environ.get("MLFLOW_TRACKING_URI")
    if address:
        return _connect_one_by_one(address, directory)
    store = directory.resolve() / FOLDER / STORE
    if {"?", "%"} & set(str(store)):  # in an address they have another meaning
        raise TrackerError(f"{store} can't be the address of a database, for its '?' or '%'; choose another --out")
    client = _connect_one_by_one(f"{SQLITE}{store}", directory)
    if not store.exists():  # MLflow keeps a database open, and continues to write to one that was removed
        raise TrackerError(f"{store} was removed while this process had it open; begin the run in a new process")
    return client


def _connect_one_by_one(address: str, directory: Path) -> "MlflowClient":
    """Returns a client; the runs of a sweep wait until the first has made the tables of a shared database."""
    from mlflow import MlflowClient

    folder = Path(address.removeprefix(SQLITE).partition("?")[0]).resolve().parent
    if not address.startswith(SQLITE) or folder == directory.resolve():
        return MlflowClient(address)
    folder.mkdir(parents=True, exist_ok=True)
    making = lock(folder, patience=MAKING_SECONDS)
    try:
        return MlflowClient(address)
    finally:
        making.close()


def _find_or_create(client: "MlflowClient", identity: str, directory: Path) -> str:
    """Returns the number of a run in MLflow; creates the run if it is not there."""
    experiment = _experiment(client, os.environ.get("MLFLOW_EXPERIMENT_NAME") or "fallow")
    found = client.search_runs([experiment], f"tags.{TAG} = '{identity}'")
    if found:
        return str(found[0].info.run_id)
    made = client.create_run(experiment, run_name=directory.resolve().name, tags={TAG: identity})
    return str(made.info.run_id)


def _experiment(client: "MlflowClient", name: str) -> str:
    from mlflow.exceptions import MlflowException

    found = client.get_experiment_by_name(name)
    if found is None:
        try:
            return str(client.create_experiment(name))
        except MlflowException:  # another run of a sweep was first
            found = client.get_experiment_by_name(name)
            if found is None:
                raise
    return str(found.experiment_id)
