"""Calling somebody's own code: what it raises becomes a sentence, with the place in its code."""

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from sysconfig import get_paths
from types import CodeType, MethodType
from typing import Any, Protocol, runtime_checkable

from fallow.errors import FallowError, PluginError
from fallow.plugins.wording import in_words

HERE = Path(__file__).parent.parent
"""The folder of Fallow's own code."""

STANDARD = Path(get_paths()["stdlib"])
"""The folder of Python's own modules."""

LIBRARIES = ("numpy", "torch", "pydantic", "flwr")
"""The packages that may stand between Fallow and somebody's code."""

RAISED = (Exception, SystemExit)
"""What is caught of somebody's code: also a sys.exit, which would end a run without a word; not Ctrl-C."""


@runtime_checkable
class HasCode(Protocol):
    """A function or a method that was written in Python."""

    @property
    def __code__(self) -> CodeType: ...


def is_ours(thing: object) -> bool:
    """Returns whether Fallow itself defines the class of an object, or the class, or the function.

    Args:
        thing: A part of a run.

    Examples:
        >>> from fallow.policies import VAoI
        >>> is_ours(VAoI()), is_ours(VAoI), is_ours(3)
        (True, True, False)
    """
    module = thing.__module__ if isinstance(thing, type | HasCode) else type(thing).__module__
    return module.partition(".")[0] == "fallow"


def call(part: str, hook: str, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Returns what a function of somebody's own returns.

    Args:
        part: What the function belongs to, in words, as in "The policy 'mine:Mine'".
        hook: The name of the function.
        function: The function.
        *arguments: What it is called with.
        **keywords: What it is called with, by name.

    Raises:
        PluginError: It raised an error; the sentence says which, and where. What Fallow's own parts raise passes.
    """
    if is_ours(function.__self__ if isinstance(function, MethodType) else function):
        return function(*arguments, **keywords)
    with blamed(part, hook, function):
        return function(*arguments, **keywords)


@contextmanager
def blamed(part: str, hook: str, function: object = None, error: type[PluginError] = PluginError) -> Iterator[None]:
    """Turns what somebody's code raises into a sentence. Errors that are sentences already pass.

    Args:
        part: What the code belongs to, in words, as in "The model 'mine:net'".
        hook: What it was asked for.
        function: The function that is called; its place is told if the call itself fails.
        error: The error to raise.

    Raises:
        PluginError: The code raised an error; or the error given.
    """
    try:
        yield
    except FallowError:
        raise
    except RAISED as raised:
        raise error(failure(part, hook, raised, function)) from raised


def failure(part: str, hook: str, raised: BaseException, function: object = None) -> str:
    """Returns the sentence about an error in somebody's code: whose, in what, which, and where.

    Args:
        part: What the code belongs to, in words.
        hook: What it was asked for.
        raised: The error.
        function: The function that was called; its place is told if the call itself failed.
    """
    hint = "; what it is given is read-only: work on a copy" if "read-only" in in_words(raised) else ""
    place = place_of(raised, function)
    return f"{part} failed in {hook}: {in_words(raised)}{f' ({place})' if place else ''}{hint}."


def place_of(raised: BaseException, function: object = None) -> str:
    """Returns where in its author's code an error was raised, as "file.py, line 3"; "" if no code of theirs ran.

    Args:
        raised: The error.
        function: Where to point if the call itself failed, as it does with a wrong number of arguments.
    """
    frames = [frame for frame in traceback.extract_tb(raised.__traceback__) if frame.filename != __file__]
    outside = [frame for frame in frames if not Path(frame.filename).is_relative_to(HERE)]
    # Between us and them may be a library: threads, or PyTorch, which calls a network's forward.
    theirs = [frame for frame in outside if not _is_library(Path(frame.filename))] or outside
    if not theirs:
        code = function.__code__ if isinstance(function, HasCode) else None
        if code is None or Path(code.co_filename).is_relative_to(HERE):
            return ""
        return f"{_shown(code.co_filename)}, line {code.co_firstlineno}"
    # The first frame is the author's; below it may be helpers of theirs, and other packages.
    home = Path(theirs[0].filename).parent
    own = [frame for frame in theirs if _belongs(Path(frame.filename), home)]
    return f"{_shown(own[-1].filename)}, line {own[-1].lineno}"


def _is_library(file: Path) -> bool:
    """Returns whether a file is Python's own, or of a package that Fallow itself calls."""
    if "site-packages" in file.parts:
        return file.parts[file.parts.index("site-packages") + 1] in LIBRARIES
    return file.is_relative_to(STANDARD) or str(file).startswith("<")


def _belongs(file: Path, home: Path) -> bool:
    return file.is_relative_to(home) and "site-packages" not in file.relative_to(home).parts


def _shown(filename: str) -> str:
    """Returns a path as it is shortest to read: from the working directory, if it lies in there."""
    path = Path(filename)
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else filename
