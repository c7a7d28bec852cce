"""What a user is told when a command ends in an error, and the exit code: the one place for whatever is left."""

import os
import traceback
from pathlib import Path

from click import ClickException, UsageError

import fallow
from fallow.errors import FallowError
from fallow.plugins.wording import in_words

WRONG_INPUT, STOPPED, BUG = 2, 130, 70
"""Exit codes: for what the user can mend, after Ctrl-C, and for a bug of Fallow's (sysexits.h says 70)."""

TRACEBACK = "FALLOW_TRACEBACK"
"""The environment variable that adds Python's traceback to an error."""

LONGEST = 1000
"""Most letters of an error sentence."""

NO_MEMORY = ("can't allocate memory", "not enough memory", "bad allocation")
"""How PyTorch says it, whose error is a RuntimeError."""


def explain(error: BaseException) -> tuple[str, int]:
    """Returns what to say of an error, and the exit code.

    Args:
        error: Whatever ended a command.

    Returns:
        One sentence for what the user can mend; for a bug, a second line with what to send.
    """
    if isinstance(error, FallowError):
        return _one_line(str(error)), WRONG_INPUT
    if isinstance(error, ClickException):
        return _one_line(_usage(error)), WRONG_INPUT
    if isinstance(error, MemoryError) or any(words in str(error) for words in NO_MEMORY):
        words = "This takes more memory than there is; make the data, the model or the number of clients smaller"
        return _one_line(f"{words} ({in_words(error)})."), WRONG_INPUT
    if isinstance(error, OSError) and error.filename is not None:
        return _one_line(f"{error.filename}: {error.strerror or in_words(error)}."), WRONG_INPUT
    sentence = f"This is a bug in Fallow {fallow.__version__}: {in_words(error)} ({_place(error)})."
    report = (
        "To report it, send this line, the command, its config, and what the same command prints after "
        f"`export {TRACEBACK}=1`."
    )
    return f"{_one_line(sentence)}\n{report}", BUG


def traceback_of(error: BaseException) -> str:
    """Returns Python's traceback of an error, where the environment asks for it; else nothing.

    Args:
        error: Whatever ended a command.
    """
    return "".join(traceback.format_exception(error)) if os.environ.get(TRACEBACK) else ""


def _usage(error: ClickException) -> str:
    message = error.format_message().rstrip(".")
    context = error.ctx if isinstance(error, UsageError) else None
    if message.endswith("?"):
        return message
    return f"{message}; `{context.command_path} --help` lists what there is." if context else f"{message}."


def _one_line(sentence: str) -> str:
    """Returns a sentence in one line, of letters that a terminal shows and does not obey."""
    shown = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in sentence)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST // 2]} … {shown[-LONGEST // 2 :]}"


def _place(error: BaseException) -> str:
    """Returns the file and the line where an error arose."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return "in an unknown place"
    return f"{Path(*Path(frames[-1].filename).parts[-2:])}, line {frames[-1].lineno}"
