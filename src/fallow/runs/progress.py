"""How far work is, and about how long it will take: on a terminal, in a notebook, and elsewhere as lines now and then.

with show_progress(500, "vaoi") as bar:
    for epoch in range(500):
        bar.advance()

In Jupyter it needs no ipywidgets: one output is replaced again and again by plain HTML.
"""

import sys
import time
from dataclasses import dataclass
from html import escape
from importlib import import_module
from types import TracebackType
from typing import Any, Protocol

REFRESH_SECONDS = 0.25
"""How often a notebook's output is replaced, at most."""

LINE_SECONDS = 10.0
LONG_SECONDS = 30.0
LINE_SHARE = 0.1
"""Where there is neither terminal nor notebook, a line is printed after so many seconds, if the work has come further
by this share or the longer time has passed. Work that is over sooner prints none."""


class Screen(Protocol):
    """Where bars are shown."""

    def add(self, description: str, total: int, done: int) -> int:
        """Shows a new bar and returns its number.

        Args:
            description: The words beside the bar.
            total: How many steps it has.
            done: How many steps are done.
        """
        ...

    def update(self, number: int, done: int, description: str) -> None:
        """Moves a bar.

        Args:
            number: Of the bar.
            done: How many steps are done.
            description: The words beside the bar.
        """
        ...

    def remove(self, number: int) -> None:
        """Removes a bar.

        Args:
            number: Of the bar.
        """
        ...

    def close(self) -> None:
        """Shows nothing more."""
        ...


class Bar:
    """One bar. As a context manager it closes when its work is over. ``show_progress`` makes the first."""

    def __init__(self, screen: Screen, total: int, description: str, done: int = 0, *, whole: bool = False) -> None:
        self._screen = screen
        self._done = done
        self._description = description
        self._whole = whole
        self._number = screen.add(description, total, done)

    def advance(self, count: int = 1) -> None:
        """Moves the bar forward by some steps."""
        self._done += count
        self._screen.update(self._number, self._done, self._description)

    def describe(self, text: str) -> None:
        """Changes the words beside the bar."""
        self._description = text
        self._screen.update(self._number, self._done, self._description)

    def task(self, name: str, total: int, done: int = 0) -> "Bar":
        """Returns a bar below this one, such as for one of many runs. Its `close` removes it.

        Args:
            name: The words beside the new bar.
            total: How many steps it has.
            done: How many steps are done.
        """
        return Bar(self._screen, total, name, done)

    def close(self) -> None:
        """Removes the bar. The first bar stays visible and ends the display."""
        if self._whole:
            self._screen.close()
        else:
            self._screen.remove(self._number)

    def __enter__(self) -> "Bar":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def show_progress(total: int, description: str, *, done: int = 0, show: bool = True) -> Bar:
    """Returns a bar that shows how far some work is and about how long the rest takes.

    Args:
        total: Steps of the work.
        description: A few words beside the bar.
        done: Steps that are done already.
        show: Whether to show anything at all.

    Returns:
        A context manager: on a terminal a bar on standard error, in a Jupyter notebook an output of the cell, elsewhere
        plain lines on standard error, now and then.
    """
    screen: Screen
    if not show:
        screen = _Nowhere()
    elif in_notebook():
        screen = _Notebook()
    else:
        screen = _Terminal() if sys.stderr.isatty() else _Lines()
    return Bar(screen, total, description, done, whole=True)


def tell(sentence: str) -> None:
    """Prints a sentence for the user: on standard error, but not in a notebook, which would show it as a fault."""
    print(sentence, file=sys.stdout if in_notebook() else sys.stderr, flush=True)


def in_notebook() -> bool:
    """Returns whether this runs in a Jupyter kernel, without loading IPython where nobody else has."""
    kernel, ipython = sys.modules.get("ipykernel.zmqshell"), sys.modules.get("IPython")
    return kernel is not None and ipython is not None and isinstance(ipython.get_ipython(), kernel.ZMQInteractiveShell)


class _Nowhere:
    """Shows nothing."""

    def add(self, description: str, total: int, done: int) -> int:  # noqa: ARG002
        return 0

    def update(self, number: int, done: int, description: str) -> None:
        pass

    def remove(self, number: int) -> None:
        pass

    def close(self) -> None:
        pass


class _Terminal:
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
        return self._progress.add_task(description, total=total, completed=done)

    def update(self, number: int, done: int, description: str) -> None:
        from rich.progress import TaskID

        self._progress.update(TaskID(number), completed=done, description=description)

    def remove(self, number: int) -> None:
        from rich.progress import TaskID

        self._progress.remove_task(TaskID(number))

    def close(self) -> None:
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


class _Lines:
    """Plain lines on standard error, of the first bar alone: a file or a pipe has no place to replace anything."""

    def __init__(self) -> None:
        self._bars = 0
        self._whole: _Line | None = None
        self._shown, self._shown_done = time.monotonic(), 0

    def add(self, description: str, total: int, done: int) -> int:
        if self._whole is None:
            self._whole = _Line(description, total, done, done, time.monotonic())
            self._shown_done = done
        self._bars += 1
        return self._bars - 1

    def update(self, number: int, done: int, description: str) -> None:
        if number > 0 or self._whole is None:
            return
        line = self._whole
        line.done, line.description = done, description
        waited, further = time.monotonic() - self._shown, done - self._shown_done
        if waited < LINE_SECONDS or (waited < LONG_SECONDS and further < LINE_SHARE * line.total):
            return
        self._shown, self._shown_done = time.monotonic(), done
        tell(f"{description}: {line.words()}")

    def remove(self, number: int) -> None:
        pass

    def close(self) -> None:
        pass


class _Notebook:
    """Bars in the output of a notebook's cell."""

    def __init__(self) -> None:
        self._lines: dict[int, _Line] = {}
        self._numbers = 0
        self._shown = time.monotonic()
        display = import_module("IPython.display").display  # it is loaded: this is a kernel
        self._handle: Any = display(self._bundle(), raw=True, display_id=True)

    def add(self, description: str, total: int, done: int) -> int:
        self._numbers += 1
        self._lines[self._numbers] = _Line(description, total, done, done, time.monotonic())
        self._refresh()
        return self._numbers

    def update(self, number: int, done: int, description: str) -> None:
        line = self._lines[number]
        line.done, line.description = done, description
        self._refresh()

    def remove(self, number: int) -> None:
        del self._lines[number]
        self._refresh()

    def close(self) -> None:
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
