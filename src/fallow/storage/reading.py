"""Files and texts that users give: opened without waiting, read within limits, refused in one sentence."""

import os
import stat
import tomllib
from pathlib import Path
from typing import Any, BinaryIO

from fallow.errors import ConfigError, FallowError
from fallow.memory import check_memory
from fallow.plugins.values import MOST_LEVELS, check_values
from fallow.plugins.wording import shortened

MOST_TEXT = 2**26
"""Most bytes of a text that is read as a whole, such as a config."""

NO_WAITING = vars(os).get("O_NONBLOCK", 0)
"""Opens a pipe at once, where a plain open would wait until somebody writes to it."""

KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}


def open_file(path: Path, what: str, error: type[FallowError]) -> BinaryIO:
    """Returns a user's file, open for reading; never waits for a pipe or a device.

    Args:
        path: The file.
        what: What it is, as the beginning of a sentence, as in "The trace".
        error: What to raise.

    Raises:
        FallowError: The path names no file that can be read, or one beyond this machine's memory; of the type `error`.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | NO_WAITING)
    except (OSError, ValueError) as failure:  # the second for NUL, and for what is not UTF-8
        raise error(f"{what} {path} can't be read: {_reason(failure)}.") from None
    found = os.fstat(descriptor)
    try:
        if not stat.S_ISREG(found.st_mode):
            kind = KINDS.get(stat.S_IFMT(found.st_mode), "a device")
            raise error(f"{what} {path} can't be read: it is {kind}, and a file is needed.")
        check_memory(found.st_size, f"{what} {path}", "give a smaller file")
    except FallowError as failure:
        os.close(descriptor)
        raise error(str(failure)) from None
    return open(descriptor, "rb")


def read_toml(path: Path, what: str, error: type[FallowError]) -> dict[str, Any]:
    """Returns the table in a user's TOML file. A byte order mark is passed over.

    Args:
        path: The file.
        what: What it is, as the beginning of a sentence, as in "The config".
        error: What to raise.

    Raises:
        FallowError: The file can't be read, or is no TOML that can be used; of the type `error`.
    """
    with open_file(path, what, error) as file:
        try:
            content = file.read(MOST_TEXT + 1)
        except OSError as failure:
            raise error(f"{what} {path} can't be read: {_reason(failure)}.") from None
    if len(content) > MOST_TEXT:
        raise error(f"{what} {path} has more than {MOST_TEXT // 2**20} MB; that is no text in TOML.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        raise error(f"{what} {path} is not valid TOML: {failure}.") from None
    return parse_toml(text, f"{what} {path}", error)


def parse_toml(text: str, what: str, error: type[FallowError]) -> dict[str, Any]:
    """Returns the table in a TOML text.

    Args:
        text: The text.
        what: What it is, as the beginning of a sentence.
        error: What to raise.

    Raises:
        FallowError: The text is no TOML, or holds what no setting can; of the type `error`.

    Examples:
        >>> parse_toml("seed = 1", "The config", ConfigError)
        {'seed': 1}
    """
    try:
        return load_toml(text)
    except tomllib.TOMLDecodeError as failure:
        raise error(f"{what} is not valid TOML: {shortened(str(failure))}.") from None
    except ConfigError as failure:
        raise error(f"{what} can't be used: {failure}") from None


def load_toml(text: str) -> dict[str, Any]:
    """Returns the table in a TOML text, within the limits of all settings.

    Args:
        text: The text.

    Raises:
        TOMLDecodeError: The text is no TOML.
        ConfigError: It holds what no setting can.
    """
    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise ConfigError(f"There are more than {MOST_LEVELS} tables or lists inside each other.") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as failure:  # Python reads no whole number of thousands of digits
        raise ConfigError(f"A number is none that can be read ({str(failure).partition(';')[0]}).") from None
    check_values(table)
    return table


def _reason(failure: OSError | ValueError) -> str:
    if isinstance(failure, OSError):
        return failure.strerror or str(failure)
    return "no file can have this name"
