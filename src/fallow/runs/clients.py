"""The clients of a run, a row each. ``docs/metrics.md`` describes the columns."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.experiment import Experiment
from fallow.learning.state import ClientScores
from fallow.simulation.books import consumed
from fallow.simulation.counters import EXTENDED_COUNTERS
from fallow.simulation.world import World
from fallow.storage.checksums import digest
from fallow.storage.files import write_atomically

Columns = dict[str, NDArray[Any]]


def client_columns(
    world: World, epochs: int, scores: ClientScores | None = None, experiment: Experiment | None = None
) -> Columns:
    """Returns what became of each client until now.

    Args:
        world: All batteries and books.
        epochs: How many epochs it has lived through, at least one.
        scores: Of the global model on each client's own samples; None in an energy-only run.
        experiment: What is run: its classes of devices are named.

    Returns:
        Columns by name, each of shape (N,): `client`, `starts`, `updates` and `stored` int32; `energy`, `harvested` and
        `overflow` int64; `outage`, and with scores `accuracy` and `loss`, float64; where energy goes beyond the paper's
        uses, the counters of that, int64; with classes of devices `device`, the name of the client's class, object.
    """
    physics, state = world.physics, world.state
    used = consumed(physics, state)
    energy = np.zeros(physics.clients, dtype=np.int64)
    for units in used.values():
        energy += units
    columns: Columns = {
        "client": np.arange(physics.clients, dtype=np.int32),
        "starts": state.starts.copy(),
        "updates": state.uploads.copy(),
        "energy": energy,
        "harvested": state.harvested.copy(),
        "overflow": state.overflow.copy(),
        "stored": state.battery.copy(),
        "outage": state.short_epochs / epochs,
    }
    if physics.extended:
        columns |= _beyond_the_paper(world, used)
    if scores is not None:
        columns |= {"accuracy": scores.accuracy, "loss": scores.loss}
    members = experiment.device_classes if experiment is not None else None
    if experiment is not None and members is not None:
        columns["device"] = np.array([device.name for device in experiment.device], dtype=object)[members]
    return columns


def _beyond_the_paper(world: World, used: Columns) -> Columns:
    """Returns the columns that only a world beyond the paper's has, each of shape (N,), int64."""
    physics, state = world.physics, world.state
    lost: Columns = {"conversion_loss": state.conversion_loss, "leakage": state.leakage, "asleep": state.asleep_slots}
    found = {**used, **lost}
    return {
        name: np.broadcast_to(found.get(name, np.zeros(1, dtype=np.int64)), physics.clients).astype(np.int64)
        for name in EXTENDED_COUNTERS
    }


def write_clients(path: Path, columns: Columns) -> str:
    """Writes the table of clients, in one step, and returns its SHA-256.

    Args:
        path: The file, which is replaced if it is there.
        columns: As `client_columns` returns them, each of shape (N,).
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from fallow.runs.arrow import as_column

    buffer = pa.BufferOutputStream()
    pq.write_table(pa.table({name: as_column(values) for name, values in columns.items()}), buffer)
    content = buffer.getvalue().to_pybytes()
    write_atomically(path, content)
    return digest(content)
