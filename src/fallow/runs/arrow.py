"""NumPy arrays as Arrow columns, without pandas: ``pa.array`` loads it, which takes longer than many a run."""

from typing import Any

import pyarrow as pa
from numpy.typing import NDArray


def as_column(values: NDArray[Any]) -> pa.Array:
    """Returns numbers, shape (rows,), as an Arrow column of the same type; the memory is shared."""
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), values.size, [None, pa.py_buffer(values)])
