"""The trackers of a run. None can stop it, and none can change it: each gets copies, and one that fails is left out."""

import time
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from fallow.errors import FallowError, TrackerError
from fallow.plugins.calls import RAISED, is_ours, place_of
from fallow.plugins.wording import in_words
from fallow.simulation.records import EpochRecord
from fallow.trackers import Row, TrackedRun, Tracker, build_trackers

PAUSE = 1.0
"""Seconds from one call of `log` to the next, at least; epochs that come faster wait, but for a checkpoint never."""


class TrackerGroup:
    """All trackers of a run. One that fails is told nothing more, and the run goes on."""

    def __init__(self, names: Sequence[str]) -> None:
        self._trackers = build_trackers(names)
        self._failures: list[str] = []
        self._waiting: list[Row] = []
        self._told = time.monotonic()

    def begin(self, run: TrackedRun) -> None:
        """Begins every tracker.

        Args:
            run: What the trackers are told about the run.

        Raises:
            TrackerError: A tracker can't begin. Nothing has been run yet.
        """
        self._tell("begin", lambda tracker: tracker.begin(deepcopy(run)))
        self.complain("")

    def log(self, record: EpochRecord) -> None:
        """Passes an epoch on to the trackers, now or a little later.

        Args:
            record: What the engine returned for it.
        """
        if self._trackers:
            self.log_row(record.row())

    def log_row(self, row: Mapping[str, int | float | None]) -> None:
        """Passes an epoch on to the trackers, now or a little later.

        Args:
            row: Its numbers by name, with `epoch` among them; None is left out.
        """
        if not self._trackers:
            return
        self._waiting.append({name: value for name, value in row.items() if value is not None})
        if time.monotonic() - self._told >= PAUSE:
            self.flush()

    def flush(self) -> None:
        """Passes on the epochs that wait."""
        rows, self._waiting = self._waiting, []
        if rows:
            self._tell(f"log, epoch {rows[0]['epoch']}", lambda tracker: tracker.log([dict(row) for row in rows]))
        self._told = time.monotonic()

    def end(self, summary: Mapping[str, Any]) -> None:
        """Ends every tracker.

        Args:
            summary: What summary.json will hold.
        """
        self._tell("end", lambda tracker: tracker.end(deepcopy(dict(summary))))

    def complain(self, before: str) -> None:
        """Raises an error if any tracker has failed so far.

        Args:
            before: A sentence that the message begins with.

        Raises:
            TrackerError: A tracker has failed.
        """
        if self._failures:
            raise TrackerError(before + " ".join(self._failures))

    def _tell(self, what: str, call: Callable[[Tracker], None]) -> None:
        for name, tracker in list(self._trackers.items()):
            try:
                call(tracker)
            except RAISED as error:  # somebody's code, or a server that is gone
                del self._trackers[name]
                place = "" if is_ours(tracker) else place_of(error)
                where = f" ({place})" if place else ""
                self._failures.append(f"The tracker '{name}' failed in {what}: {_reason(error)}{where}.")


def _reason(error: BaseException) -> str:
    """Returns the first line of what went wrong."""
    if isinstance(error, FallowError):
        return str(error).strip().split("\n")[0].rstrip(".")
    return in_words(error, lines=1)
