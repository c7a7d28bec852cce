"""What a tracker is: another program that is told of a run while it happens, such as one that draws its curves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

Row = Mapping[str, int | float]
"""One epoch: a row of epochs.csv by column, without the cells that are empty. `epoch` is its step."""

LONGEST = 500
"""Letters of a setting."""


@dataclass(frozen=True)
class TrackedRun:
    """A run that begins, or goes on after it was stopped.

    Attributes:
        directory: The run directory; a tracker that writes files has a folder of its own in it.
        settings: The resolved config, flat, as in ``{"energy.p": 0.1}``.
        past: The epochs so far; none where a run begins.
    """

    directory: Path
    settings: Mapping[str, Any]
    past: Sequence[Row] = ()

    @property
    def epoch(self) -> int:
        """The epoch that `log` is told of next. Of later ones a tracker may have heard before a kill."""
        return int(self.past[-1]["epoch"]) + 1 if self.past else 0


def as_text(setting: Any) -> str:
    """Returns a setting in words; a list with a number for each of many clients is cut short."""
    text = str(setting)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


class Tracker(Protocol):
    """Shows a run elsewhere. A class that takes nothing to make; each run has one of its own.

    What it is told must be safe when a method returns: a run that is killed goes on from its last checkpoint, which is
    written afterwards.
    """

    def begin(self, run: TrackedRun) -> None:
        """Is called once, before the first epoch, and again where a run goes on."""
        ...

    def log(self, rows: Sequence[Row]) -> None:
        """Takes the next epochs, in order; several where they come fast."""
        ...

    def end(self, summary: Mapping[str, Any]) -> None:
        """Takes what summary.json will hold. After a kill right here it is called again."""
        ...
