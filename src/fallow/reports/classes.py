"""What a run tells of its device classes, and how often each client was short of energy."""

import csv
import io
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from fallow.errors import RunDirectoryError
from fallow.reports.runs import ReportedRun
from fallow.runs.layout import CLIENTS

DEVICES = "devices.csv"
Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DeviceCourse:
    """One class of devices over the epochs of a run.

    Attributes:
        name: Of the class.
        clients: How many belong to it.
        charge: Share of its capacity that is stored at the end of each epoch, shape (T,), float64.
        outage: Share of its client-epochs that find a client idle and short of a training's energy.
        asleep: Share of its client-slots in which a device slept; None where none can.
    """

    name: str
    clients: int
    charge: Numbers
    outage: float
    asleep: float | None


def read_outage(run: ReportedRun) -> Numbers | None:
    """Returns the share of epochs that find each client idle and short of a training's energy, shape (N,), float64.

    Args:
        run: A finished run.

    Returns:
        None where an older version counted none.

    Raises:
        RunDirectoryError: The table of clients can't be read.
    """
    path = run.directory / CLIENTS
    if not path.is_file():
        return None
    try:
        with pq.ParquetFile(path) as file:
            if "outage" not in file.schema_arrow.names:
                return None
            outage: Numbers = file.read(["outage"]).column("outage").to_numpy()
    except (OSError, pa.ArrowException) as error:
        raise RunDirectoryError(f"{path} can't be read: {error}.") from error
    return outage


def read_classes(run: ReportedRun) -> list[DeviceCourse]:
    """Returns the courses of the device classes, in the order of the config; none where all clients are alike.

    Args:
        run: A finished run.

    Raises:
        RunDirectoryError: devices.csv is there and can't be read.
    """
    path = run.directory / DEVICES
    if not path.is_file():
        return []
    try:
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
        own: dict[str, list[dict[str, str]]] = {}
        for row in rows:
            own.setdefault(row["device"], []).append(row)
        courses = []
        for name, lines in own.items():
            clients = int(lines[0]["clients"])
            courses.append(_course(name, clients, lines, run.settings["slots_per_epoch"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunDirectoryError(f"{path} can't be read: {error}.") from error
    return courses


def _course(name: str, clients: int, lines: list[dict[str, str]], slots: int) -> DeviceCourse:
    def column(key: str) -> Numbers:
        return np.array([float(line[key]) for line in lines])

    capacity, epochs = column("capacity"), len(lines)
    return DeviceCourse(
        name=name,
        clients=clients,
        charge=np.divide(column("stored"), capacity, out=np.zeros(epochs), where=capacity > 0),
        outage=float(column("short").sum() / (clients * epochs)),
        asleep=float(column("asleep").sum() / (clients * epochs * slots)) if "asleep" in lines[0] else None,
    )
