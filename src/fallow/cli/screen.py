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
    """Keeps standard output for JSON, where wanted.

    What is printed meanwhile goes to standard error, be it by somebody's own policy.
    """
    return redirect_stdout(sys.stderr) if wanted else nullcontext()


def print_json(document: dict[str, Any]) -> None:
    """Prints the one document that a script reads."""
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
