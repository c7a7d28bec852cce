"""Where progress is shown: on a terminal, in a notebook, as plain lines, or nowhere. Each is a ``progress.Screen``."""

import sys
import time
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import Any

REFRESH_SECONDS = 0.25
"""How often a notebook's output is replaced, at most."""

LINE_SECONDS = 10.0
LONG_SECONDS = 30.0
LINE_SHARE = 0.1
"""Where there is neither terminal nor notebook, a line is printed after so many seconds, if the work has come further
by this share or the longer time has passed. Work that is over sooner prints none."""


class Nowhere:
    """Shows nothing."""

    def add(self, description: str, total: int, done: int) -> int:  # noqa: ARG002
        """Shows a new bar and returns its number."""
        return 0

    def update(self, number: int, done: int, description: str) -> None:
        """Moves a bar."""

    def remove(self, number: int) -> None:
        """Removes a bar."""

    def close(self) -> None:
        """Shows nothing more."""


class Terminal:
    """Bars on standard error."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        words, left = TextColumn("{task.description}", markup=False), TextColumn("left")
        columns = (words, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), left, TimeRemainingColumn())
        self._progress = Progress(*columns, console=Console(stderr=True, soft_wrap=True))
        self._progress.start()

    def add(self, description: str, total: int, done: int) -> int:
        """Shows a new bar and returns its number."""
        return self._progress.add_task(description, total=total, completed=done)

    def update(self, number: int, done: int, description: str) -> None:
        """Moves a bar."""
        from rich.progress import TaskID

        self._progress.update(TaskID(number), completed=done, description=description)

    def remove(self, number: int) -> None:
        """Removes a bar."""
        from rich.progress import TaskID

        self._progress.remove_task(TaskID(number))

    def close(self) -> None:
        """Shows nothing more."""
        self._progress.stop()


@dataclass
class _Line:
    """A bar in words: what is done of what, and what was done when it began."""

    description: str
    total: int
    done: int
    first: int
    begun: float

    def words(self) -> str:
        spent = time.monotonic() - self.begun
        advanced = self.done - self.first
        left = spent / advanced * (self.total - self.done) if advanced else None
        about = "" if self.done >= self.total or left is None else f", about {_clock(left)} left"
        return f"{self.done:,} of {self.total:,}, {_clock(spent)}{about}"


class Lines:
    """Plain lines on standard error, of the first bar alone: a file or a pipe has no place to replace anything."""

    def __init__(self) -> None:
        self._bars = 0
        self._whole: _Line | None = None
        self._shown, self._shown_done = time.monotonic(), 0

    def add(self, description: str, total: int, done: int) -> int:
        """Shows a new bar and returns its number."""
        if self._whole is None:
            self._whole = _Line(description, total, done, done, time.monotonic())
            self._shown_done = done
        self._bars += 1
        return self._bars - 1

    def update(self, number: int, done: int, description: str) -> None:
        """Moves a bar."""
        if number > 0 or self._whole is None:
            return
        line = self._whole
        line.done, line.description = done, description
        waited, further = time.monotonic() - self._shown, done - self._shown_done
        if waited < LINE_SECONDS or (waited < LONG_SECONDS and further < LINE_SHARE * line.total):
            return
        self._shown, self._shown_done = time.monotonic(), done
        print(f"{description}: {line.words()}", file=sys.stderr, flush=True)

    def remove(self, number: int) -> None:
        """Removes a bar."""

    def close(self) -> None:
        """Shows nothing more."""


class Notebook:
    """Bars in the output of a notebook's cell."""

    def __init__(self) -> None:
        self._lines: dict[int, _Line] = {}
        self._numbers = 0
        self._shown = time.monotonic()
        display = import_module("IPython.display").display  # it is loaded: this is a kernel
        self._handle: Any = display(self._bundle(), raw=True, display_id=True)

    def add(self, description: str, total: int, done: int) -> int:
        """Shows a new bar and returns its number."""
        self._numbers += 1
        self._lines[self._numbers] = _Line(description, total, done, done, time.monotonic())
        self._refresh()
        return self._numbers

    def update(self, number: int, done: int, description: str) -> None:
        """Moves a bar."""
        line = self._lines[number]
        line.done, line.description = done, description
        self._refresh()

    def remove(self, number: int) -> None:
        """Removes a bar."""
        del self._lines[number]
        self._refresh()

    def close(self) -> None:
        """Shows nothing more."""
        self._handle.update(self._bundle(), raw=True)

    def _refresh(self) -> None:
        if time.monotonic() - self._shown >= REFRESH_SECONDS:
            self._shown = time.monotonic()
            self._handle.update(self._bundle(), raw=True)

    def _bundle(self) -> dict[str, str]:
        plain = [f"{line.description}: {line.words()}" for line in self._lines.values()]
        rows = [
            f'<div><progress value="{line.done}" max="{max(line.total, 1)}" style="width: 20em"></progress> '
            f"{escape(line.description)}: {line.words()}</div>"
            for line in self._lines.values()
        ]
        return {"text/plain": "\n".join(plain), "text/html": "\n".join(rows)}


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
