"""The trackers of a federation: they are told of its rounds, as those of a run are of its epochs."""

from collections.abc import Mapping, Sequence
from logging import WARNING
from pathlib import Path
from typing import Any

from fallow.errors import ConfigError, TrackerError
from fallow.flower.internals import log
from fallow.flower.server.federation import Row
from fallow.runs.tracking import TrackerGroup
from fallow.trackers import TrackedRun


class RoundTrackers:
    """Tells trackers of the rounds. One that fails is told nothing more, which is logged; the federation goes on.

    Args:
        names: Keys of TRACKERS, trackers of installed packages, or ``module:Class``.
        settings: What the trackers are told of the federation, flat, as in ``{"energy.p": 0.1}``.
    """

    def __init__(self, names: Sequence[str] = (), settings: Mapping[str, Any] | None = None) -> None:
        self._names, self._settings = tuple(names), settings or {}
        self._group = TrackerGroup(())

    def begin(self, directory: Path | None, rounds: Sequence[Row]) -> None:
        """Begins the trackers, before the first round that is left.

        Args:
            directory: Where the federation is kept; a tracker that writes files has its own folder in it.
            rounds: The rounds so far.

        Raises:
            ConfigError: A tracker is not there, or there is no directory.
            TrackerError: A tracker can't begin.
        """
        if not self._names:
            return
        if directory is None:
            raise ConfigError("Trackers need a directory to write to; give FallowStrategy one.")
        self._group = TrackerGroup(self._names)  # each time anew: what has ended does not begin again
        self._group.begin(TrackedRun(directory, self._settings, [_numbers(row) for row in rounds]))

    def log(self, row: Row) -> None:
        """Passes a round on, before the federation is written: what is written, the trackers have heard.

        Args:
            row: Of rounds.csv.
        """
        self._group.log_row(_numbers(row))
        self._group.flush()

    def end(self, rounds: Sequence[Row]) -> None:
        """Ends the trackers.

        Args:
            rounds: All of them; the numbers of the last one are the summary.
        """
        self._group.end({**(_numbers(rounds[-1]) if rounds else {}), "epochs": len(rounds)})
        try:
            self._group.complain("")
        except TrackerError as error:
            log(WARNING, "%s", error)


def _numbers(row: Row) -> dict[str, int | float]:
    """Returns the numbers of a round by column; `epoch`, from 0, stands for `round`, which counts from 1."""
    numbers = {name: value for name, value in row.items() if isinstance(value, int | float)}
    return {"epoch": numbers.pop("round") - 1} | numbers
