"""What a tracker is: it records a run elsewhere while it happens, such as in a program that draws curves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

Row = Mapping[str, int | float]
"""One epoch: a row of epochs.csv by column, without the cells that are empty. `epoch` is its step."""

LONGEST = 500
"""Most letters of a setting."""


@dataclass(frozen=True)
class TrackedRun:
    """A run that begins, or continues after it was stopped.

    Attributes:
        directory: The run directory; a tracker that writes files has its own folder in it.
        settings: The resolved config, flat, as in ``{"energy.p": 0.1}``.
        past: The epochs so far, in order; empty when a run begins.
    """

    directory: Path
    settings: Mapping[str, Any]
    past: Sequence[Row] = ()

    @property
    def epoch(self) -> int:
        """The epoch that `log` receives next. A run that was killed may have logged it, and later ones, before."""
        return int(self.past[-1]["epoch"]) + 1 if self.past else 0


def as_text(setting: Any) -> str:
    """Returns a setting as a text; a long one, such as a list with a number for each client, is shortened."""
    text = str(setting)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


class Tracker(Protocol):
    """Records a run elsewhere. A class whose constructor needs no arguments; each run has its own tracker.

    When a method returns, what it received must be stored: a run that is killed continues from its last checkpoint,
    which is written afterwards.
    """

    def begin(self, run: TrackedRun) -> None:
        """Begins a run. Called before the first epoch, and again when a run continues.

        Args:
            run: The run, with the epochs so far.
        """
        ...

    def log(self, rows: Sequence[Row]) -> None:
        """Records the next epochs.

        Args:
            rows: The epochs, in order; several if they are short.
        """
        ...

    def end(self, summary: Mapping[str, Any]) -> None:
        """Ends a run. Called again if the run is killed during this call.

        Args:
            summary: What summary.json will hold.
        """
        ...
