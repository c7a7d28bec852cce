"""What people see: the two consoles. And what scripts see: JSON."""

import json
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from typing import Annotated, Any

import typer
from rich.cells import cell_len
from rich.console import Console

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]

console = Console(soft_wrap=True, emoji=False)
errors = Console(stderr=True, soft_wrap=True, emoji=False)

GAP = 2
"""Letters between two columns of a table."""


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


def share_columns(rows: Sequence[Sequence[str]], words: int, width: int) -> list[list[int]]:
    """Returns which columns stand in which table: as few tables as fit the screen, about as wide as each other.

    Args:
        rows: The cells of each row, the headings among them.
        words: How many of the first columns name a row; they stand in every table.
        width: Of the screen, in letters.

    Examples:
        >>> share_columns([["name", "a" * 20, "b" * 20, "c" * 20, "d" * 20]], words=1, width=80)
        [[0, 1, 2], [0, 3, 4]]
    """
    widths = [max(map(cell_len, column)) + GAP for column in zip(*rows, strict=True)]
    fewest = _pack(widths, words, width)
    narrower = (_pack(widths, words, limit) for limit in range(width))
    return next((tables for tables in narrower if len(tables) == len(fewest)), fewest)


def _pack(widths: Sequence[int], words: int, limit: int) -> list[list[int]]:
    """Returns the columns of tables that are no wider than a limit, if that can be."""
    tables = [list(range(words))]
    for place in range(words, len(widths)):
        if len(tables[-1]) > words and sum(widths[one] for one in (*tables[-1], place)) > limit:
            tables.append(list(range(words)))
        tables[-1].append(place)
    return tables
