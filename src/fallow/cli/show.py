"""``fallow list`` and ``fallow show``: what there is to choose from, and what a run came to."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from fallow.cli.run import as_table
from fallow.cli.screen import Json, console, print_json
from fallow.errors import RunDirectoryError
from fallow.experiment.choices import CHOICES
from fallow.runs.directory import CHECKPOINT, is_finished, read_experiment, read_summary
from fallow.trackers import TRACKERS


def list_choices(as_json: Json = False) -> None:
    """List policies, energy models, datasets, models, rules and trackers, with a line each."""
    found = {
        f"{choice.section}.{choice.field}": {name: _first_line(cls) for name, cls in choice.table.items()}
        for choice in CHOICES
    } | {"output.trackers": {name: _first_line(cls) for name, cls in TRACKERS.items()}}
    if as_json:
        print_json(found)
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    for setting, names in found.items():
        table.add_row(f"[bold]{setting}[/]", "")
        for name, line in names.items():
            table.add_row(f"  {name}", line)
    console.print(table, highlight=False)


def show(
    directory: Annotated[Path, typer.Argument(help="Run directory.")],
    as_json: Json = False,
) -> None:
    """Print what a run came to."""
    experiment = read_experiment(directory)
    if not is_finished(directory):
        begun = "a checkpoint" if (directory / CHECKPOINT).exists() else "no checkpoint yet"
        raise RunDirectoryError(
            f"The run of {experiment.policy.name} in {directory} is not finished ({begun}); "
            f"`fallow resume {directory}` goes on with it."
        )
    summary = read_summary(directory)
    if as_json:
        print_json(summary)
    else:
        console.print(as_table(summary))


def _first_line(cls: type) -> str:
    return (cls.__doc__ or "").strip().split("\n")[0]
