"""How well the last global model fits each client, from clients.parquet."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from fallow.errors import RunDirectoryError
from fallow.reports.runs import ReportedRun
from fallow.runs.layout import CLIENTS


def read_ranked_accuracy(run: ReportedRun) -> NDArray[np.float64] | None:
    """Returns the accuracies on the clients' own samples, the worst first, shape (clients with samples,), float64.

    Args:
        run: A finished run.

    Returns:
        None in an energy-only run, and where an older version scored no clients.

    Raises:
        RunDirectoryError: The table of clients can't be read.
    """
    path = run.directory / CLIENTS
    if not run.learns or not path.is_file():
        return None
    try:
        with pq.ParquetFile(path) as file:
            if "accuracy" not in file.schema_arrow.names:
                return None
            accuracy = file.read(["accuracy"]).column("accuracy").to_numpy()
    except (OSError, pa.ArrowException) as error:
        raise RunDirectoryError(f"{path} can't be read: {error}.") from error
    return np.sort(accuracy[~np.isnan(accuracy)])
