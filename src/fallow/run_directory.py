"""The run directory: config.toml, epochs.csv, events.parquet and, last of all, summary.json.

A directory without summary.json is not a finished run.
"""

import csv
import json
import os
import platform
from collections.abc import Iterable
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from fallow.config import Experiment
from fallow.engine import Engine
from fallow.errors import RunDirectoryError
from fallow.records import COLUMNS, EpochRecord
from fallow.world import Event

CONFIG, EPOCHS, EVENTS, SUMMARY = "config.toml", "epochs.csv", "events.parquet", "summary.json"
PART = ".part"

KINDS = ("select", "start", "finish", "upload")
EVENT_SCHEMA = pa.schema(
    [
        ("epoch", pa.int32()),
        ("slot", pa.int32()),
        ("client", pa.int32()),
        ("kind", pa.dictionary(pa.int8(), pa.string())),
        ("staleness", pa.int32()),
    ]
)


def claim(directory: Path, *, overwrite: bool = False) -> None:
    """Makes `directory` ready for a new run, or says why it can't be.

    An unfinished run is cleared away; a finished one only with `overwrite`; anything else is left alone.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if (directory / SUMMARY).exists() and not overwrite:
            raise RunDirectoryError(
                f"{directory} holds a finished run; choose another --out, or give --overwrite to replace it."
            )
        if any(directory.iterdir()) and not (directory / CONFIG).exists():
            raise RunDirectoryError(f"{directory} is not empty and not a run; choose another --out.")
        # The summary goes first: from here on the old run does not look finished.
        for name in (SUMMARY, EPOCHS, EVENTS, EVENTS + PART):
            (directory / name).unlink(missing_ok=True)
    except OSError as error:
        raise RunDirectoryError(f"{directory} can't be written to: {error.strerror or error}.") from error


def write_run(engine: Engine, directory: Path, epochs: Iterable[EpochRecord]) -> dict[str, Any]:
    """Writes a run into a claimed directory while it happens.

    Args:
        engine: The run.
        directory: Where to.
        epochs: The records of `engine`, in order; a progress bar may stand in between.

    Returns:
        The summary.
    """
    experiment = engine.experiment
    try:
        write_atomically(directory / CONFIG, experiment.to_toml())
        with ExitStack() as stack:
            table = csv.DictWriter(
                stack.enter_context((directory / EPOCHS).open("w", newline="", encoding="utf-8")), COLUMNS
            )
            table.writeheader()
            part = directory / (EVENTS + PART)
            events = stack.enter_context(pq.ParquetWriter(part, EVENT_SCHEMA)) if experiment.output.events else None
            totals: dict[str, int | float] = dict.fromkeys(COLUMNS, 0)
            for record in epochs:
                row = record.row()
                table.writerow(row)
                totals = {name: totals[name] + value for name, value in row.items()}
                if events is not None and record.events:
                    events.write_table(events_table(record.epoch, record.events))
        if experiment.output.events:
            part.replace(directory / EVENTS)
        summary = summarise(engine, totals)
        write_atomically(directory / SUMMARY, json.dumps(summary, indent=2) + "\n")
    except OSError as error:
        raise RunDirectoryError(f"{directory} can't be written to: {error.strerror or error}.") from error
    return summary


def events_table(epoch: int, events: list[Event]) -> pa.Table:
    """Returns the events of an epoch as a table; staleness is null for all but uploads."""
    sizes = [clients.size for _, _, clients, _ in events]
    staleness = [
        pa.nulls(clients.size, pa.int32()) if late is None else pa.array(late) for _, _, clients, late in events
    ]
    kinds = np.repeat(np.array([KINDS.index(kind) for kind, *_ in events], dtype=np.int8), sizes)
    return pa.table(
        [
            pa.array(np.full(sum(sizes), epoch, dtype=np.int32)),
            pa.array(np.repeat(np.array([slot for _, slot, _, _ in events], dtype=np.int32), sizes)),
            pa.array(np.concatenate([clients for _, _, clients, _ in events]).astype(np.int32)),
            pa.DictionaryArray.from_arrays(pa.array(kinds), pa.array(KINDS)),
            pa.chunked_array(staleness, pa.int32()),
        ],
        schema=EVENT_SCHEMA,
    )


def summarise(engine: Engine, totals: dict[str, int | float]) -> dict[str, Any]:
    """Returns the totals of a finished run. Nothing in it depends on the clock, so equal runs have equal bytes."""
    experiment, world = engine.experiment, engine.world
    uploads = world.uploads.astype(np.float64)
    consumed = ("consumed_train", "consumed_tx", "consumed_probe")
    counted = (
        "harvested",
        *consumed,
        "overflow",
        "selected",
        "starts",
        "finishes",
        "uploads",
        "stale_uploads",
    )
    means = ("mean_age_selected", "mean_age_delivered")
    return {
        "policy": experiment.policy.name,
        "seed": experiment.seed,
        "clients": experiment.clients,
        "epochs": experiment.epochs,
        **{name: totals[name] for name in counted},
        "stored": int(world.battery.sum(dtype=np.int64)),
        "energy_total": engine.energy_total,
        "energy_per_client_epoch": engine.energy_total / experiment.clients / experiment.epochs,
        **{name: totals[name] / experiment.epochs for name in means},
        "clients_never_delivered": int(np.count_nonzero(world.uploads == 0)),
        "jain_index_uploads": jain_index(uploads),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("fallow", "numpy", "pyarrow")},
        },
    }


def jain_index(shares: NDArray[np.float64]) -> float | None:
    """Returns Jain's fairness index, 1 for equal shares and 1/N for one taker; None if there was nothing to share."""
    squares = float((shares**2).sum())
    return float(shares.sum()) ** 2 / (shares.size * squares) if squares else None


def write_atomically(path: Path, text: str) -> None:
    """Writes a file that is either there in full or not there at all."""
    part = path.with_name(path.name + PART)
    with part.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def read_config(directory: Path) -> Experiment:
    """Returns the resolved experiment of a run directory."""
    return Experiment.read(directory / CONFIG)
