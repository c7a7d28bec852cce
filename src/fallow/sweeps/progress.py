"""How a sweep is going: who may hear of it, and bars on a terminal."""

from contextlib import AbstractContextManager
from types import TracebackType
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn


class Observer(Protocol):
    """Hears how the runs of a sweep go."""

    def note(self, sentence: str) -> None:
        """Hears a sentence for the user."""
        ...

    def watch(self, left: int, total: int, epochs: int) -> AbstractContextManager["Watch"]:
        """Hears that runs begin.

        Args:
            left: How many are carried out now.
            total: How many there are with those that are finished already.
            epochs: Of those that are left, all in all.
        """
        ...


class Watch(Protocol):
    """Hears of the runs that are under way."""

    def advance(self, name: str, done: int, epochs: int) -> None:
        """Hears that `done` of the `epochs` of a run are done."""
        ...

    def end(self, name: str) -> None:
        """Hears that a run has come to its end, well or not."""
        ...


class Silent:
    """An observer that keeps everything to itself."""

    def note(self, sentence: str) -> None:
        """Drops a sentence."""

    def watch(self, left: int, total: int, epochs: int) -> AbstractContextManager[Watch]:
        """Returns a watch that shows nothing."""
        return Bars(Console(quiet=True), left, total, epochs)


class OnScreen:
    """An observer that shows a bar for the whole and one for each run under way.

    Args:
        console: Where to; None is standard error. Where it is no terminal, there are no bars.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True, soft_wrap=True)

    def note(self, sentence: str) -> None:
        """Prints a sentence."""
        self._console.print(sentence, highlight=False, markup=False)

    def watch(self, left: int, total: int, epochs: int) -> AbstractContextManager[Watch]:
        """Returns the bars."""
        return Bars(self._console, left, total, epochs)


class Bars:
    """The bars of a sweep, while they are shown."""

    def __init__(self, console: Console, left: int, total: int, epochs: int) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("left"))
        shown = console.is_terminal and not console.quiet
        self._progress = Progress(*columns, TimeRemainingColumn(), console=console, disable=not shown)
        self._whole = self._progress.add_task(f"epochs of {count_runs(left)}", total=epochs)
        self._total = total
        self._ended = total - left
        self._tasks: dict[str, TaskID] = {}
        self._done: dict[str, int] = {}

    def __enter__(self) -> "Bars":
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def advance(self, name: str, done: int, epochs: int) -> None:
        """Moves the bar of a run, and that of the whole."""
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(name, total=epochs)
        self._progress.advance(self._whole, done - self._done.get(name, 0))
        self._progress.update(self._tasks[name], completed=done)
        self._done[name] = done

    def end(self, name: str) -> None:
        """Removes the bar of a run."""
        self._ended += 1
        self._progress.remove_task(self._tasks[name])
        self._progress.update(self._whole, description=f"epochs, {self._ended} of {count_runs(self._total)} done")


def count_runs(runs: int) -> str:
    """Returns a number of runs in words, as in "1 run"."""
    return "1 run" if runs == 1 else f"{runs:,} runs"
