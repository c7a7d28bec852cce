"""The scores of the global model on each client's own samples, as a table over epochs."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from fallow.learning.state import ClientScores
from fallow.runs.arrow import as_column

SCORE_SCHEMA = pa.schema(
    [("epoch", pa.int32()), ("client", pa.int32()), ("loss", pa.float64()), ("accuracy", pa.float64())]
)


def scores_table(epochs: Sequence[tuple[int, ClientScores]]) -> pa.Table:
    """Returns a row for each client in each of some epochs; loss and accuracy are NaN for a client without samples.

    Args:
        epochs: Each with its scores, in order.
    """
    sizes = [scores.loss.size for _, scores in epochs]
    columns = (
        np.repeat(np.array([t for t, _ in epochs], dtype=np.int32), sizes),
        np.concatenate([np.zeros(0, dtype=np.int32), *(np.arange(size, dtype=np.int32) for size in sizes)]),
        np.concatenate([np.zeros(0), *(scores.loss for _, scores in epochs)]),
        np.concatenate([np.zeros(0), *(scores.accuracy for _, scores in epochs)]),
    )
    return pa.table([as_column(column) for column in columns], schema=SCORE_SCHEMA)
