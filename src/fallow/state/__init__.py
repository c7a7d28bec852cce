"""States as arrays and notes, and back: what a checkpoint keeps, and what goes over the network."""

from fallow.state.memory import check_parts, from_arrays, grown, put_rows, take_rows, to_arrays
from fallow.state.packing import Arrays, Notes, pack, unpack

__all__ = [
    "Arrays",
    "Notes",
    "check_parts",
    "from_arrays",
    "grown",
    "pack",
    "put_rows",
    "take_rows",
    "to_arrays",
    "unpack",
]
