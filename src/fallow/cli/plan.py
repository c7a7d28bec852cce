"""``fallow plan``: what a device will do, and what it needs, before it is built."""

from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE
from rich.markup import escape
from rich.table import Table

from fallow.cli.screen import Json, console, print_json, words_aside
from fallow.planning.plan import plan as make_plan
from fallow.planning.result import Plan
from fallow.planning.words import tables


def plan(
    node: Annotated[Path, typer.Argument(help="Device, energy source, policy and wish in TOML.")],
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change one setting, as in wish.trainings_per_day=4."),
    ] = None,
    runs: Annotated[
        Path | None,
        typer.Option(help="A run or a sweep: say what F1 so many trainings bought there.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for plan.json, plan.csv and plan.png.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Say what a device will do before it is built, and the battery and panel that it needs."""
    with words_aside(as_json):
        found = make_plan(node, overrides=setting or (), runs=runs, out=out)
    if as_json:
        print_json(found.document())
        return
    show_plan(found)
    if out is not None:
        console.print(f"Written to {out}", highlight=False, markup=False)


def show_plan(found: Plan) -> None:
    """Prints the tables and the answer.

    Args:
        found: The plan.
    """
    for title, (headings, *rows) in tables(found).items():
        table = Table(title=title, title_justify="left", box=SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
        for place, heading in enumerate(headings):
            table.add_column(heading, justify="right" if place else "left", no_wrap=True)
        for row in rows:
            table.add_row(*map(escape, row))
        console.print(table)
    for sentence in found.sentences:
        console.print(sentence, highlight=False, markup=False)
