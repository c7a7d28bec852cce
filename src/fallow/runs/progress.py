"""How far work is, and about how long it will take: on a terminal, in a notebook, and elsewhere as lines now and then.

with show_progress(500, "vaoi") as bar:
    for epoch in range(500):
        bar.advance()

In Jupyter it needs no ipywidgets: one output is replaced again and again by plain HTML.
"""

import sys
from types import TracebackType
from typing import Protocol

from fallow.runs.screens import Lines, Notebook, Nowhere, Terminal


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
        screen = Nowhere()
    elif in_notebook():
        screen = Notebook()
    else:
        screen = Terminal() if sys.stderr.isatty() else Lines()
    return Bar(screen, total, description, done, whole=True)


def tell(sentence: str) -> None:
    """Prints a sentence for the user: on standard error, but not in a notebook, which would show it as a fault."""
    print(sentence, file=sys.stdout if in_notebook() else sys.stderr, flush=True)


def in_notebook() -> bool:
    """Returns whether this runs in a Jupyter kernel, without loading IPython where nobody else has."""
    kernel, ipython = sys.modules.get("ipykernel.zmqshell"), sys.modules.get("IPython")
    return kernel is not None and ipython is not None and isinstance(ipython.get_ipython(), kernel.ZMQInteractiveShell)
