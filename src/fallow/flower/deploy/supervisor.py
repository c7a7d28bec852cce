"""Keeps a program running: whatever ends it, it is started again."""

import math
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

GRACE = 10.0
"""Seconds that a program has to end in good order."""

LOOK = 0.2
"""Seconds between two looks at the program and at the signals that came."""

STOPS = [known for known in signal.Signals if known.name in {"SIGINT", "SIGTERM", "SIGHUP"}]
"""Ctrl-C, the system, and a terminal that is closed, which Windows has no signal for."""


def supervise(
    command: Callable[[], Sequence[str]], environment: Mapping[str, str], tell: Callable[[str], None], pause: float
) -> None:
    """Runs a program again and again, until this process is told to stop.

    The program and its children are a group of processes of their own. What is left of the group when the program has
    ended is killed, so that nothing of an earlier life meddles with the next.

    Args:
        command: Makes the command; it may change from one start to the next.
        environment: Of the program.
        tell: Is told, in a sentence, that the program has ended.
        pause: Seconds before it is started again.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed.
        SystemExit: Another signal told this process to stop.
    """
    with _signals() as came:
        while not came:
            process = subprocess.Popen(command(), env=environment, start_new_session=True)  # noqa: S603  # ours
            _live(process, came)
            if not came:
                tell(f"It ended with code {process.returncode}; starting it again in {pause:g} seconds.")
                _wait(lambda: came, pause)
    if came[0] == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + came[0])


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Gathers the signals that tell this process to stop, and does nothing else about them.

    An exception out of a handler could come at any point, also where a program has just been started and has no name
    yet, or where subprocess holds a lock. What was ignored, as `nohup` has it, stays ignored.
    """
    came: list[int] = []
    before = {word: signal.getsignal(word) for word in STOPS if signal.getsignal(word) is not signal.SIG_IGN}
    for word in before:
        signal.signal(word, lambda number, _: came.append(number))
    try:
        yield came
    finally:
        for word, handler in before.items():
            signal.signal(word, handler)


def _live(process: subprocess.Popen[bytes], came: list[int]) -> None:
    """Waits until a program ends or a signal has come; then nothing is left of it."""
    try:
        _wait(lambda: came or process.poll() is not None)
    finally:
        _end(process)


def _wait(happens: Callable[[], object], seconds: float = math.inf) -> None:
    """Looks again and again whether something has happened, for so long.

    To block until the program ends would be to miss a signal that comes just before.
    """
    end = time.monotonic() + seconds
    while not happens() and (left := end - time.monotonic()) > 0:
        time.sleep(min(LOOK, left))


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a program if it runs, in good order if it can, and then whatever is left of its group."""
    try:
        if process.poll() is None:
            process.terminate()
            _wait(lambda: process.poll() is not None, GRACE)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    _wait(lambda: process.poll() is not None, GRACE)
