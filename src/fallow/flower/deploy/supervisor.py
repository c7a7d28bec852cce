"""Keeps programs running: whatever ends them, they are started again."""

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
    programs: Callable[[], Mapping[str, Sequence[str]]],
    environment: Mapping[str, str],
    tell: Callable[[str], None],
    pause: float,
    explain: Callable[[float], str] = lambda _: "",
) -> None:
    """Runs programs that belong together again and again, until this process is told to stop.

    When one of them ends, whatever ended it, the others are ended too, and all are started again. Each is a group of
    processes of its own, with its children. What is left of a group when its program has ended is killed, so that
    nothing of an earlier life meddles with the next. What they write is readable by their owner alone.

    Args:
        programs: Makes the commands, by the names that they have in a sentence; they may change from one start to the
            next.
        environment: Of the programs.
        tell: Is told, in sentences, that a program has ended.
        pause: Seconds before they are started again.
        explain: Says more about the end of a program that lived for so many seconds; empty if it knows nothing.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed.
        SystemExit: Another signal told this process to stop.
    """
    with _signals() as came:
        while not came:
            began = time.monotonic()
            ended = _live(programs(), environment, came)
            if not came:
                words = f"{ended}; starting it again in {pause:g} seconds."
                tell(" ".join(filter(None, [words, explain(time.monotonic() - began)])))
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


def _live(programs: Mapping[str, Sequence[str]], environment: Mapping[str, str], came: list[int]) -> str:
    """Runs programs until one ends or a signal has come; then nothing is left of any. Returns which ended, and how."""
    running: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name, command in programs.items():
            running[name] = subprocess.Popen(  # noqa: S603  # ours
                command, env=environment, start_new_session=True, umask=0o077
            )
        _wait(lambda: came or any(process.poll() is not None for process in running.values()))
        ended = [(name, process.returncode) for name, process in running.items() if process.returncode is not None]
    finally:
        _end(list(running.values()))
    return " and ".join(f"{name} ended with code {code}" for name, code in ended)


def _wait(happens: Callable[[], object], seconds: float = math.inf) -> None:
    """Looks again and again whether something has happened, for so long.

    To block until the program ends would be to miss a signal that comes just before.
    """
    end = time.monotonic() + seconds
    while not happens() and (left := end - time.monotonic()) > 0:
        time.sleep(min(LOOK, left))


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Ends programs that run, in good order if they can, and then whatever is left of their groups."""

    def over() -> bool:
        return all(process.poll() is not None for process in processes)

    try:
        for process in processes:
            if process.poll() is None:
                process.terminate()
        _wait(over, GRACE)
    finally:
        for process in processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    _wait(over, GRACE)
