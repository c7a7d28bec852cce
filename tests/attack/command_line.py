"""One command in this process, and whether it kept its promise: it goes well, or it ends in one sentence."""

import io
import os
import resource
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from fallow import cli

SECONDS = 60
"""Longer than this no attempt may take, on a busy machine too: all of them are tiny, or refused."""

BYTES = 8 * 10**9
"""Most memory of an attempt."""

DONE, FAILED, WRONG_INPUT = 0, 1, 2


class TooLongError(BaseException):
    """A command that does not end; no command catches it."""


@dataclass(frozen=True)
class Outcome:
    """What came of a command: its exit code, and what it printed."""

    code: int
    out: str
    err: str


def call(arguments: list[str]) -> Outcome:
    """Returns what came of a command."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    before, sys.argv = sys.argv, ["fallow", *arguments]
    try:
        with redirect_stdout(out), redirect_stderr(err), _within_limits(), warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            try:
                cli.main()
                code: object = DONE
            except SystemExit as end:
                code = end.code
    finally:
        sys.argv = before
    words = [stream.buffer.getvalue().decode() for stream in (out, err)]
    return Outcome(code if isinstance(code, int) else DONE, *words)


def find_complaint(arguments: list[str]) -> str | None:
    """Returns how a command broke its promise; None if it kept it."""
    try:
        outcome = call(arguments)
    except TooLongError:
        return f"takes longer than {SECONDS} s"
    except Exception as error:  # noqa: BLE001  # that is what is looked for
        return f"raised {type(error).__name__}: {error}"
    return complaint_about(arguments, outcome)


def complaint_about(arguments: list[str], outcome: Outcome) -> str | None:
    """Returns how an outcome breaks the promise; None if it keeps it."""
    if "Traceback" in outcome.err:
        return f"a traceback: {outcome.err}"
    if outcome.code == DONE:
        return None
    if outcome.code == FAILED and arguments[0] in ("check", "sweep", "compare"):
        return None
    if outcome.code != WRONG_INPUT:
        return f"exit code {outcome.code}: {outcome.err}"
    if not outcome.err and "Usage:" in outcome.out:
        return None  # a command of commands without one shows its help
    sentence = outcome.err.removeprefix("Error: ").removesuffix("\n")
    if not outcome.err.startswith("Error: ") or "\n" in sentence or not sentence.endswith((".", "?")):
        return f"not one sentence: {outcome.err!r}"
    return None


@contextmanager
def workplace() -> Iterator[Path]:
    """A temporary folder as the working directory, with nothing of the user's in reach."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        environment, os.environ["FALLOW_DATA_DIR"] = os.environ.get("FALLOW_DATA_DIR"), f"{folder}/cache"
        try:
            yield Path(folder)
        finally:
            os.chdir(before)
            del os.environ["FALLOW_DATA_DIR"]
            os.environ |= {} if environment is None else {"FALLOW_DATA_DIR": environment}


@contextmanager
def _within_limits() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooLongError

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    handler = signal.signal(signal.SIGALRM, stop)
    resource.setrlimit(resource.RLIMIT_AS, (BYTES if hard == resource.RLIM_INFINITY else min(BYTES, hard), hard))
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
