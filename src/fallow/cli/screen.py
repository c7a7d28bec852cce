"""What people see: the two consoles. And what scripts see: JSON."""

import json
import sys
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from typing import Annotated, Any

import typer
from rich.console import Console

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]

console = Console(soft_wrap=True)
errors = Console(stderr=True, soft_wrap=True)


def words_aside(wanted: bool) -> AbstractContextManager[Any]:
    """Returns a context in which standard output is kept for JSON, if wanted.

    Whatever is printed in it goes to standard error, even by a user's own policy.

    Args:
        wanted: Whether JSON is printed.
    """
    return redirect_stdout(sys.stderr) if wanted else nullcontext()


def print_json(document: dict[str, Any]) -> None:
    """Prints the one document that a script reads.

    Args:
        document: Plain data.
    """
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
