"""``fallow report``: run directories into one page and publication figures."""

from pathlib import Path
from typing import Annotated

import typer

from fallow.cli.screen import Json, console, errors, print_json
from fallow.reports import Written, write_report


def report(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR…", help="Run directories, or folders that contain them at any depth.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write the report.")] = Path("report"),
    target: Annotated[
        float | None, typer.Option(metavar="F1", help="Say what it took to reach an F1 score.", show_default=False)
    ] = None,
    harvest: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="A file that a harvest was read from, to see batteries; may be repeated.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write report.html, one file that works offline, and figures as PDF and PNG."""
    written = write_report(directories, out, target, harvest or ())
    _say_unfinished(written)
    if as_json:
        unfinished = [{"name": one.name, "done": one.done, "epochs": one.epochs} for one in written.unfinished]
        figures = [str(path) for path in written.figures]
        print_json({"page": str(written.page), "figures": figures, "runs": written.runs, "unfinished": unfinished})
        return
    runs = "1 run" if written.runs == 1 else f"{written.runs:,} runs"
    with_figures = f"with {len(written.figures) // 2} figures as PDF and PNG"
    console.print(f"The report of {runs} is in {written.page}, {with_figures}.", highlight=False, markup=False)


def _say_unfinished(written: Written) -> None:
    if not written.unfinished:
        return
    names = [one.name for one in written.unfinished]
    listed = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    what = "1 run is not finished and is" if len(names) == 1 else f"{len(names):,} runs are not finished and are"
    errors.print(f"Note: {what} named but not drawn: {listed}.", highlight=False, markup=False)
