"""How a sweep is going: who may hear of it, and bars on a terminal or in a notebook."""

from contextlib import AbstractContextManager
from types import TracebackType
from typing import Protocol

from fallow.runs.progress import Bar, show_progress, tell


class Watch(Protocol):
    """Hears of the runs that are under way."""

    def advance(self, name: str, done: int, epochs: int) -> None:
        """Hears how far a run is.

        Args:
            name: Of the run.
            done: Epochs that are done.
            epochs: Epochs that the run has.
        """
        ...

    def end(self, name: str) -> None:
        """Hears that a run has ended, well or not.

        Args:
            name: Of the run.
        """
        ...


class Observer(Protocol):
    """Hears how the runs of a sweep go."""

    def note(self, sentence: str) -> None:
        """Hears a sentence for the user."""
        ...

    def watch(self, left: int, total: int, epochs: int) -> AbstractContextManager[Watch]:
        """Hears that runs begin.

        Args:
            left: How many are carried out now.
            total: How many there are with those that are finished already.
            epochs: Of those that are left, all in all.
        """
        ...


class OnScreen:
    """An observer that shows a bar for the whole and one for each run under way, and prints sentences.

    Args:
        show: Whether to show anything at all.
    """

    def __init__(self, *, show: bool = True) -> None:
        self._show = show

    def note(self, sentence: str) -> None:
        """Prints a sentence, where the user sees it."""
        if self._show:
            tell(sentence)

    def watch(self, left: int, total: int, epochs: int) -> AbstractContextManager[Watch]:
        """Returns the bars.

        Args:
            left: How many runs are carried out now.
            total: How many there are with those that are finished already.
            epochs: Of those that are left, all in all.
        """
        return Bars(left, total, epochs, show=self._show)


class Bars:
    """The bars of a sweep, while they are shown; the arguments are those of ``Observer.watch``."""

    def __init__(self, left: int, total: int, epochs: int, *, show: bool) -> None:
        self._whole = show_progress(epochs, f"epochs of {count_runs(left)}", show=show and left > 0)
        self._total = total
        self._ended = total - left
        self._bars: dict[str, Bar] = {}
        self._done: dict[str, int] = {}

    def __enter__(self) -> "Bars":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for bar in self._bars.values():
            bar.close()
        self._whole.close()

    def advance(self, name: str, done: int, epochs: int) -> None:
        """Moves the bar of a run, and that of the whole.

        Args:
            name: Of the run.
            done: Epochs that are done.
            epochs: Epochs that the run has.
        """
        if name not in self._bars:
            self._bars[name] = self._whole.task(name, epochs)
        step = done - self._done.get(name, 0)
        self._bars[name].advance(step)
        self._whole.advance(step)
        self._done[name] = done

    def end(self, name: str) -> None:
        """Removes the bar of a run."""
        self._bars.pop(name).close()
        self._ended += 1
        self._whole.describe(f"epochs, {self._ended} of {count_runs(self._total)} done")


def count_runs(runs: int) -> str:
    """Returns a number of runs in words, as in "1 run"."""
    return "1 run" if runs == 1 else f"{runs:,} runs"
