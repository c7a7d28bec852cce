"""Ctrl-C and SIGTERM, answered at the end of an epoch: what is whole is kept, and nothing is computed twice.

with stop_between_epochs() as stop:
    open_run.write(engine, stop.asked)
"""

import os
import shlex
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Final

from fallow.runs.progress import tell

ANSWERED: Final[dict[signal.Signals, Callable[[int, FrameType | None], object] | signal.Handlers]] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
}
"""The signals that are answered, each with what answers it where nobody chose otherwise."""


class StopRequest:
    """Whether this process was asked to stop.

    Attributes:
        number: Of the signal that asked; None as long as none did.
    """

    def __init__(self) -> None:
        self.number: int | None = None

    def asked(self) -> bool:
        """Returns whether a signal has asked for the end."""
        return self.number is not None


@contextmanager
def stop_between_epochs() -> Iterator[StopRequest]:
    """Turns the first Ctrl-C or SIGTERM of a ``with`` block into a request; the second acts as it does elsewhere.

    After the block a SIGTERM takes effect. A signal that is ignored, or that the program answers in its own way, is
    left alone, and so are all of them outside the main thread, where Python can't answer any.

    Yields:
        The request, to be looked at after each epoch.
    """
    request = StopRequest()
    taken = []
    if threading.current_thread() is threading.main_thread():
        taken = [number for number, usual in ANSWERED.items() if signal.getsignal(number) == usual]

    def give_back() -> None:
        for number in taken:
            signal.signal(number, ANSWERED[number])

    def answer(number: int, _frame: FrameType | None) -> None:
        request.number = number
        give_back()
        if number == signal.SIGINT:
            with suppress(RuntimeError):  # the signal came while this very stream was written to; the word is no loss
                tell("Stopping at the end of this epoch; Ctrl-C again stops at once.")

    for number in taken:
        signal.signal(number, answer)
    try:
        yield request
    finally:
        give_back()
        if request.number == signal.SIGTERM:
            os.kill(os.getpid(), signal.SIGTERM)


def how_to_go_on(directory: Path, done: int, kept: int, epochs: int, bound: str | None = None) -> str:
    """Returns a sentence on a run that was stopped: how far it came, and what goes on with it.

    Args:
        directory: Of the run.
        done: Whole epochs.
        kept: Epochs in the checkpoint.
        epochs: Of the whole run.
        bound: The class, if any, that no other process could load.

    Examples:
        >>> how_to_go_on(Path("my run"), 7, 7, 9)
        "Stopped after 7 of 9 epochs; `fallow resume 'my run'` goes on, or in Python fallow.resume('my run')."
    """
    redone = "" if kept == done else f", of which the checkpoint holds {kept}"
    stopped = f"Stopped after {done} of {epochs} epochs{redone}"
    in_python = f"fallow.resume({str(directory)!r})"
    if bound:
        return f"{stopped}; {in_python} goes on in this program, which alone has {bound.rpartition(':')[2]}."
    return f"{stopped}; `fallow resume {shlex.quote(str(directory))}` goes on, or in Python {in_python}."
