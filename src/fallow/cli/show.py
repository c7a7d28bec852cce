"""``fallow show``: what a run came to."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from fallow.cli.screen import Json, console, print_json
from fallow.errors import RunDirectoryError
from fallow.runs.layout import has_checkpoint, is_finished
from fallow.runs.overview import overview, overview_title
from fallow.runs.reader import read_settings, read_summary
from fallow.runs.untrained import explain_no_training


def show(
    directory: Annotated[Path, typer.Argument(help="Run directory.")],
    as_json: Json = False,
) -> None:
    """Print what a run came to."""
    settings = read_settings(directory)
    if not is_finished(directory):
        begun = "a checkpoint" if has_checkpoint(directory) else "no checkpoint yet"
        raise RunDirectoryError(
            f"The run of {settings['policy']['name']} in {directory} is not finished ({begun}); "
            f"`fallow resume {directory}` goes on with it."
        )
    summary = read_summary(directory)
    if as_json:
        print_json(summary)
    else:
        print_overview(settings, summary)


def print_overview(settings: dict[str, Any], summary: dict[str, Any]) -> None:
    """Prints the totals of a run as a table, and why nobody trained, if nobody did.

    Args:
        settings: The resolved config, by section.
        summary: What summary.json holds.
    """
    console.print(as_table(summary))
    if reason := explain_no_training(settings, summary):
        console.print(reason, highlight=False, markup=False)


def as_table(summary: dict[str, Any]) -> Table:
    """Returns the totals of a run as a table of words and numbers.

    Args:
        summary: What summary.json holds.
    """
    table = Table(title=overview_title(summary), show_header=False, title_justify="left")
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    for line in overview(summary):
        table.add_row(*line)
    return table
