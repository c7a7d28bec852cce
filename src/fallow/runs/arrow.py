"""NumPy arrays as Arrow columns, without pandas: ``pa.array`` loads it, which takes longer than many a run."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def as_column(values: NDArray[Any], known: NDArray[np.bool_] | None = None) -> pa.Array:
    """Returns numbers as an Arrow column of the same type, whose memory is shared; or texts as a column of texts.

    Args:
        values: Shape (rows,).
        known: Which of them are there, shape (rows,), bool; the others are null. None: all.
    """
    if values.dtype.kind == "O":
        return pa.array(values, pa.string())
    there = None if known is None else pa.py_buffer(np.packbits(known, bitorder="little"))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), values.size, [there, pa.py_buffer(values)])
