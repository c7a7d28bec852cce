"""What was measured, as a table in Markdown."""

from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray

LARGEST_DIFFERENCE = 1e-2
"""Of float32 moves, as a share of the move."""

HEAD = (
    "| side | set-up | s a round, best | median | × Fallow's best | start, s | peak MB |\n|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True)
class Row:
    """What one side took for a workload.

    Attributes:
        side: Its name.
        setup: How it spread its work, in words.
        seconds: What each round took.
        start_seconds: From the start of its process until it was ready for the first round.
        megabytes: The peak of its memory.
        difference: How far its weights moved elsewhere than the hand-written loop's, as a share of that one's move.
    """

    side: str
    setup: str
    seconds: tuple[float, ...]
    start_seconds: float
    megabytes: float
    difference: float

    @property
    def best(self) -> float:
        """The seconds of the fastest round."""
        return min(self.seconds)

    @property
    def agrees(self) -> bool:
        """Whether its weights are those of the hand-written loop."""
        return self.difference < LARGEST_DIFFERENCE


def table(rows: list[Row]) -> list[str]:
    """Returns the lines of the table: each side with the better of its set-ups, and a line for each other set-up.

    A side whose weights differ has no figures; a line says so.
    """
    sound = [row for row in rows if row.agrees]
    chosen = {side: min((row for row in sound if row.side == side), key=lambda row: row.best) for side in names(sound)}
    base = chosen["Fallow"].best if "Fallow" in chosen else float("nan")
    lines = HEAD.splitlines()
    lines += [
        f"| {row.side} | {row.setup} | {row.best:.4g} | {median(row.seconds):.4g} | {row.best / base:.3g} "
        f"| {row.start_seconds:.1f} | {row.megabytes:.0f} |"
        for row in chosen.values()
    ]
    lines += [
        f"{row.side} with {row.setup}: {row.best:.4g} s a round (median {median(row.seconds):.4g}), "
        f"start {row.start_seconds:.1f} s, peak {row.megabytes:.0f} MB"
        for row in sound
        if row is not chosen[row.side]
    ]
    lines += [
        f"ERROR: {row.side}, {row.setup}, ends in other weights: its move differs from the hand-written loop's "
        f"by {row.difference:.1e} of it, and {LARGEST_DIFFERENCE} is the most that is allowed."
        for row in rows
        if not row.agrees
    ]
    return lines


def names(rows: list[Row]) -> list[str]:
    """Returns the sides, each once, in their order."""
    return list(dict.fromkeys(row.side for row in rows))


def difference(move: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """Returns how far a move is from another, as a share of that other; both have shape (P,), float32."""
    return float(np.linalg.norm(move - other) / np.linalg.norm(other))
