"""Reads a page and does what it says: saves its files, runs its code and its commands, compares what they print.

A block with a title is a file. A `python` block without one is run, all of a page in one namespace; a `text` block
after it is what it prints. In a `console` block each `$ ` line is run and the lines below it must be printed, in this
order; `…` stands for lines left out.
"""

import contextlib
import filecmp
import io
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from fallow.cli import app
from fallow.errors import FallowError

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
OUTSIDE = ("make ", "python3 -m venv", ".venv/bin/pip ", "python docs/figures/")
"""Commands that are tested elsewhere."""


@dataclass(frozen=True)
class Block:
    language: str
    title: str | None
    text: str


def blocks(page: str) -> list[Block]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return [Block(language, title or None, body) for language, title, body in BLOCK.findall(text)]


def follow(page: str, folder: Path) -> int:
    """Does what a page says, in a folder which must be the working directory; returns how many blocks it had."""
    namespace: dict[str, Any] = {}
    printed = ""
    found = blocks(page)
    with forgetting(folder):
        for block in found:
            if block.title:
                (folder / block.title).parent.mkdir(exist_ok=True)
                (folder / block.title).write_text(block.text, encoding="utf-8")
            elif block.language == "python":
                with contextlib.redirect_stdout(io.StringIO()) as screen:
                    exec(compile(block.text, page, "exec"), namespace)  # noqa: S102
                printed = screen.getvalue()
            elif block.language == "text":
                assert block.text == printed, f"{page} says\n{block.text}but the code before it prints\n{printed}"
            elif block.language == "console":
                for command, expected in commands(block.text):
                    if not command.startswith(OUTSIDE):
                        compare(page, command, expected, type_in(command))
    return len(found)


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    for part in text.split("$ ")[1:]:
        command, *expected = part.rstrip("\n").split("\n")
        yield command, [line for line in expected if line.strip() != "…"]


def type_in(command: str) -> str:
    """Runs a command in this process; returns what it prints."""
    command, _, target = command.partition(" > ")
    program, *arguments = shlex.split(command)
    if program == "diff":
        left, right = map(Path, arguments[1:])
        names = [path.name for path in left.iterdir()]
        _, *wrong = filecmp.cmpfiles(left, right, names, shallow=False)
        return "\n".join(str(name) for name in wrong if name)
    assert program == "fallow", f"the reader does not know the command '{program}'"
    result = CliRunner().invoke(app, arguments)
    if isinstance(result.exception, FallowError):
        return f"Error: {result.exception}"
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    if target:
        Path(target).write_text(result.output, encoding="utf-8")
    return result.output


def compare(page: str, command: str, expected: list[str], printed: str) -> None:
    assert expected or "Error: " not in printed, f"{page}: {command}\n{printed}"
    lines = iter([line.strip() for line in printed.splitlines()])
    for line in expected:
        assert line.strip() in lines, f"{page}: `{command}` does not print\n{line}\nbut\n{printed}"


@contextlib.contextmanager
def forgetting(folder: Path) -> Iterator[None]:
    """Imports from the folder, and forgets the modules that came from it."""
    path = list(sys.path)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path[:] = path
        for name, module in list(sys.modules.items()):
            if Path(getattr(module, "__file__", None) or "/").is_relative_to(folder):
                del sys.modules[name]
