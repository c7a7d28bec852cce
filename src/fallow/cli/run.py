"""``fallow run`` and ``fallow resume``: one experiment into one run directory."""

from pathlib import Path
from typing import Annotated

import typer

from fallow.cli.screen import Json, console, print_json, words_aside
from fallow.cli.show import print_overview
from fallow.experiment import Experiment
from fallow.experiment.harvests import describe_energy
from fallow.runs import execute
from fallow.runs.layout import is_finished
from fallow.runs.run import Run

Workers = Annotated[
    int | None, typer.Option(min=0, help="Threads, in place of compute.workers; changes no result.", show_default=False)
]


def run(
    config: Annotated[
        Path | None, typer.Argument(help="Experiment in TOML; without it, the paper's numbers.", show_default=False)
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change one setting, as in energy.p=0.01; may be repeated."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Run directory; without it, the next free one under runs/.", show_default=False)
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a run that is there.")] = False,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Run one experiment and write its run directory."""
    with words_aside(as_json):
        experiment = Experiment.read(config, setting or ())
        if found_in_source := describe_energy(experiment):
            console.print(found_in_source, highlight=False, markup=False)
        if out is None:
            found = execute.run_next(experiment, Path("runs"), workers=workers)
        else:
            found = execute.run(experiment, out, overwrite=overwrite, workers=workers)
    _show(found, as_json=as_json)


def resume(
    directory: Annotated[Path, typer.Argument(help="Run directory of a run that was stopped.")],
    workers: Workers = None,
    accept_changes: Annotated[
        bool,
        typer.Option(
            "--accept-changes",
            help="Go on with other versions or input files than before; the summary says which epochs had which.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Go on with a run from its last checkpoint."""
    with words_aside(as_json):
        finished = is_finished(directory)
        found = execute.resume(directory, workers=workers, accept_changes=accept_changes)
        if finished:
            console.print(f"The run in {directory} is finished already.", highlight=False, markup=False)
    if not finished or as_json:
        _show(found, as_json=as_json)


def _show(found: Run, *, as_json: bool) -> None:
    """Prints what a run came to; one that Ctrl-C ended has said how to go on."""
    if found.summary is None:
        raise typer.Exit(130)
    if as_json:
        print_json({"directory": str(found.directory), **found.summary})
        return
    print_overview(found.settings, found.summary)
    console.print(f"Written to {found.directory}", highlight=False, markup=False)
