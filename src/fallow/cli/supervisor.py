"""Keeps a program running: whatever ends it, it is started again."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 15.0
"""Seconds before a program is started again: longer after each time, so that a server that is down is left in peace."""

LONG_LIFE = 60.0
"""Seconds after which a program counts as having worked, and the pauses begin anew."""

GRACE = 10.0
"""Seconds that a program has to end in good order."""


def supervise(
    command: Callable[[], Sequence[str]], environment: Mapping[str, str], tell: Callable[[str], None]
) -> None:
    """Runs a program again and again, until this process is told to stop.

    The program and its children are a group of processes of their own. What is left of the group when the program has
    ended is killed, so that nothing of an earlier life meddles with the next.

    Args:
        command: Makes the command; it may change from one start to the next.
        environment: Of the program.
        tell: Is told, in a sentence, that the program has ended.
    """
    before = signal.signal(signal.SIGTERM, _stop)
    pause = FIRST_PAUSE
    try:
        while True:
            began = time.monotonic()
            process = None
            try:
                with _held(signal.SIGINT, signal.SIGTERM):
                    process = subprocess.Popen(command(), env=environment, start_new_session=True)  # noqa: S603  # ours
                code = process.wait()
            finally:
                if process is not None:
                    _end(process)
            pause = FIRST_PAUSE if time.monotonic() - began > LONG_LIFE else min(2 * pause, LONGEST_PAUSE)
            tell(f"It ended with code {code}; starting it again in {pause:g} seconds.")
            time.sleep(pause)
    finally:
        signal.signal(signal.SIGTERM, before)


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + signal.SIGTERM)


@contextmanager
def _held(*words: signal.Signals) -> Iterator[None]:
    """Holds signals back and answers them at the end: a program that is just being started has no name to end it by."""
    came: list[int] = []
    before = {word: signal.signal(word, lambda number, _: came.append(number)) for word in words}
    try:
        yield
    finally:
        for word, handler in before.items():
            signal.signal(word, handler)
    for number in came:
        signal.raise_signal(number)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a program if it runs, in good order if it can, and then whatever is left of its group."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
