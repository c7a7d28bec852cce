"""What people see: the two consoles, and a progress bar with the time left."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

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
