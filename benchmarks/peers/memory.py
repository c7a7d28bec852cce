"""The memory of a side: the proportional set size of all its processes, found by a mark in their environment.

A page that several processes share counts once, divided among them. Ray's daemons leave the family tree, so the mark,
which every process inherits, says whose they are.
"""

import threading
from pathlib import Path
from types import TracebackType

MARK = "FALLOW_PEERS_SIDE"
PROCESSES = Path("/proc")
EVERY_SECONDS = 0.2


def megabytes(mark: str) -> float:
    """Returns the memory of the processes that carry a mark, in MB; 0 where there is no /proc."""
    entry = f"{MARK}={mark}".encode()
    return sum(_proportional(path) for path in PROCESSES.glob("[0-9]*") if entry in _environment(path)) / 1000


def _environment(process: Path) -> list[bytes]:
    try:
        return (process / "environ").read_bytes().split(b"\0")
    except OSError:  # another user's, or gone meanwhile
        return []


def _proportional(process: Path) -> float:
    """Returns the proportional set size of a process, in units of 1,000 bytes."""
    try:
        lines = (process / "smaps_rollup").read_text().splitlines()
    except OSError:  # gone meanwhile
        return 0.0
    return next((int(line.split()[1]) * 1.024 for line in lines if line.startswith("Pss:")), 0.0)


class Watch:
    """Takes the memory of a side again and again, while a block runs, and keeps the peak."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.peak = 0.0
        self._over = threading.Event()

    def look(self) -> None:
        """Takes it once."""
        self.peak = max(self.peak, megabytes(self.mark))

    def _look_on(self) -> None:
        while not self._over.wait(EVERY_SECONDS):
            self.look()

    def __enter__(self) -> "Watch":
        self._over.clear()
        self._thread = threading.Thread(target=self._look_on, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self.look()
