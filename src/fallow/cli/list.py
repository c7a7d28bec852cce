"""``fallow list``: what there is to choose from."""

from typing import Annotated

import typer
from rich.table import Table

from fallow.cli.screen import Json, console, print_json
from fallow.experiment.catalogue import list_choices


def list_names(
    kind: Annotated[
        str | None,
        typer.Argument(help="One kind alone, such as policies, energy, devices or radios.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """List policies, energy models, datasets, models, rules and trackers, with a line each; or devices, or radios."""
    found = list_choices(kind)
    if as_json:
        print_json(found)
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    for setting, names in found.items():
        table.add_row(f"[bold]{setting}[/]", "")
        for name, line in names.items():
            table.add_row(f"  {name}", line)
    console.print(table, highlight=False)
