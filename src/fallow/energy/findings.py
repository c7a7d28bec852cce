"""What was found in a file of power: its rows, its gaps, its clock changes."""

from dataclasses import dataclass
from datetime import datetime

from fallow.energy.clock import duration_in_words


@dataclass(frozen=True)
class Findings:
    """What a file of power holds. Its text is a line for the user.

    Attributes:
        path: The file.
        rows: How many there are.
        columns: Of watts.
        first: The first stamp, in UTC.
        seconds: From the first stamp to the end of the last row.
        step: The typical seconds from one row to the next, the median; the last row lasts so long.
        gaps: Steps that are longer than the setting `gap` allows.
        gap_seconds: How much of the time is filled.
        fill: What it is filled with.
        clock_changes: How often the file's clock was put forward or back.
        repeated: Stamps in an hour that the clock shows a second time.
        missing: Stamps in an hour that the clock leaves out, taken as if it had not been put forward yet.
        mean_watts: The mean power over the whole time, of all columns, gaps as they are filled.
    """

    path: str
    rows: int
    columns: int
    first: datetime
    seconds: float
    step: float
    gaps: int
    gap_seconds: float
    fill: str
    clock_changes: int
    repeated: int
    missing: int
    mean_watts: float

    def __str__(self) -> str:
        columns = f" of {self.columns} columns" if self.columns > 1 else ""
        words = [
            f"{self.path}: {self.rows:,} rows{columns} from {self.first:%Y-%m-%d %H:%M} UTC, "
            f"{duration_in_words(self.seconds)} in steps of {duration_in_words(self.step)}, mean "
            f"{self.mean_watts:.4g} W"
        ]
        if self.gaps:
            filled = {"zeros": "filled with zeros", "interpolate": "interpolated", "hold": "filled by the last value"}
            together = " together" if self.gaps > 1 else ""
            words.append(
                f"{_count(self.gaps, 'gap')} of {duration_in_words(self.gap_seconds)}{together}, {filled[self.fill]}"
            )
        if self.clock_changes:
            words.append(_count(self.clock_changes, "clock change"))
        if self.repeated:
            words.append(f"{_count(self.repeated, 'stamp')} in a repeated hour")
        if self.missing:
            words.append(f"{_count(self.missing, 'stamp')} in an hour that does not exist")
        return "; ".join(words) + "."


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
