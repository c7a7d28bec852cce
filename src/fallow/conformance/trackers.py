"""The check of trackers: told of a small run that is killed once, in a folder that is thrown away."""

from pathlib import Path
from tempfile import TemporaryDirectory

from fallow.conformance.sentences import first_problem
from fallow.plugins.calls import call
from fallow.trackers import Row, TrackedRun, Tracker

ROWS: list[Row] = [{"epoch": epoch, "uploads": 3 * epoch, "f1": 0.1 * epoch} for epoch in range(4)]
SETTINGS = {"seed": 0, "epochs": 4, "policy.name": "vaoi", "energy.p": 0.1, "output.trackers": ("mine",)}
SUMMARY = {"epochs": 4, "energy_total": 300, "f1": 0.3, "versions": {"fallow": "1"}}


def check_tracker(tracker: Tracker) -> list[str]:
    """Returns what is wrong with a tracker, in a sentence; an empty list if nothing is.

    It is told of a run that begins, logs two epochs and is killed; then another tracker of its class is told that the
    run goes on from the epoch before, and ends.

    Args:
        tracker: A new tracker.
    """
    return first_problem(lambda: _check(tracker))


def _check(tracker: Tracker) -> None:
    part = f"The tracker '{type(tracker).__name__}'"
    again: Tracker = call(part, "its constructor", type(tracker))
    with TemporaryDirectory() as folder:
        directory = Path(folder)
        call(part, "begin", tracker.begin, TrackedRun(directory, dict(SETTINGS)))
        call(part, "log", tracker.log, [dict(row) for row in ROWS[:2]])
        call(part, "begin, as the run goes on", again.begin, TrackedRun(directory, dict(SETTINGS), ROWS[:1]))
        call(part, "log, of an epoch that was logged before", again.log, [dict(row) for row in ROWS[1:]])
        call(part, "end", again.end, dict(SUMMARY))
