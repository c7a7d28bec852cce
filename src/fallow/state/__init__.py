"""States as arrays and notes, and back: what a checkpoint keeps, and what goes over the network."""

from fallow.state.memory import check_parts, from_arrays, grown, put_rows, same_arrays, take_rows, to_arrays
from fallow.state.packing import Arrays, Notes, pack, unpack
from fallow.state.rows import Rows, empty_rows, is_row

__all__ = [
    "Arrays",
    "Notes",
    "Rows",
    "check_parts",
    "empty_rows",
    "from_arrays",
    "grown",
    "is_row",
    "pack",
    "put_rows",
    "same_arrays",
    "take_rows",
    "to_arrays",
    "unpack",
]
