"""``fallow verify``: whether finished runs are still what they were."""

from pathlib import Path
from typing import Annotated

import typer

from fallow.cli.screen import Json, print_json
from fallow.runs import verify as verification


def verify(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR…", help="Run directories, or folders of runs, such as a sweep's.")
    ],
    as_json: Json = False,
) -> None:
    """Compare finished runs with the checksums that they wrote at their end."""
    found = verification.verify(*directories)
    if as_json:
        rows = [
            {"directory": str(run.directory), "verdict": run.verdict, "differences": list(run.differences)}
            for run in found
        ]
        print_json({"runs": rows})
    else:
        for run in found:
            typer.echo(str(run))
    if any(run.verdict == "damaged" for run in found):
        raise typer.Exit(1)
