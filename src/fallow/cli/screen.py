"""What people see: the two consoles, and a progress bar with the time left. And what scripts see: JSON."""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

Item = TypeVar("Item")
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]

console = Console(soft_wrap=True)
errors = Console(stderr=True, soft_wrap=True)


def with_progress(items: Iterable[Item], total: int, what: str, done: int = 0) -> Iterator[Item]:
    """Passes `items` on and shows how far they are, on a terminal; elsewhere it is silent."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=errors, disable=not errors.is_terminal) as progress:
        yield from progress.track(items, total=total, completed=done, description=what)


def words_aside(wanted: bool) -> AbstractContextManager[Any]:
    """Keeps standard output for JSON, where wanted.

    What is printed meanwhile goes to standard error, be it by somebody's own policy.
    """
    return redirect_stdout(sys.stderr) if wanted else nullcontext()


def print_json(document: dict[str, Any]) -> None:
    """Prints the one document that a script reads."""
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
