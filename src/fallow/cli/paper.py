"""``fallow paper``: the paper's study, its figures and its claims."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from fallow.cli.screen import Json, console, print_json, words_aside
from fallow.cli.sweep import MOST_SEEDS, DryRun, Setting, Workers, exit_after, say_finished, show_forecast, stopping
from fallow.experiment.settings import override
from fallow.study.grid import SCALES, Scale
from fallow.study.paper import plan_paper, run_paper
from fallow.sweeps.progress import OnScreen


def paper(
    scale: Annotated[str, typer.Option(help="smoke: minutes, to see it work; half: half the channels; full.")] = "full",
    seeds: Annotated[int, typer.Option(min=1, max=MOST_SEEDS, help="Seeds of each cell, from 0.")] = 3,
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="Also rerun one cell under other readings of the paper.")
    ] = False,
    setting: Setting = None,
    out: Annotated[Path, typer.Option(help="Folder of the study; one that is there goes on.")] = Path("runs/paper"),
    workers: Workers = 0,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Rerun the paper's study: 3 α × 3 p_bc × 4 policies; draw its figures and judge its claims."""
    planned = plan_paper(_checked(scale), seeds, out, _settings(setting or []), sensitivity=sensitivity)
    if dry_run:
        show_forecast(planned.runs, workers, as_json=as_json)
        return
    with words_aside(as_json), stopping():
        found = run_paper(planned, workers, OnScreen())
        say_finished(found.sweep)
    if found.page is None:
        exit_after(found.sweep)
    elif as_json:
        claims = [asdict(claim) for claim in found.claims]
        print_json({"page": str(found.page), "figures": [str(path) for path in found.figures], "claims": claims})
    else:
        for claim in found.claims:
            console.print(f"{claim.verdict:14} {claim.text}", highlight=False, markup=False)
        console.print(f"The claims, with figures, are in {found.page}", highlight=False, markup=False)
    exit_after(found.sweep)


def _checked(scale: str) -> Scale:
    for known in SCALES:
        if scale == known:
            return known
    raise typer.BadParameter(f"'{scale}' is not one of {', '.join(SCALES)}.", param_hint="--scale")


def _settings(assignments: list[str]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for assignment in assignments:
        override(settings, assignment)
    return settings
