"""``fallow paper``: the paper's study, its figures and its claims."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from fallow.cli.readings import carry_out_readings, print_readings
from fallow.cli.screen import Json, console, print_json, words_aside
from fallow.cli.sweep import MOST_SEEDS, DryRun, Setting, Workers, exit_after, say_finished, show_forecast, stopping
from fallow.errors import ConfigError
from fallow.experiment.settings import override
from fallow.study import kept as tables
from fallow.study.grid import ALPHAS, HARVESTS, RULES, SCALES, Scale
from fallow.study.paper import Shown, paper_from, plan_paper, plan_sensitivity, plan_with, run_paper
from fallow.study.readings.run import readings_from
from fallow.study.readings.spent import TABLE as READINGS_TABLE
from fallow.study.sensitivity import ALPHA
from fallow.study.sensitivity import HARVESTS as SENSITIVE
from fallow.sweeps.progress import OnScreen

Value = TypeVar("Value", str, float)


def paper(
    scale: Annotated[str, typer.Option(help="smoke: minutes, to see it work; half: half the channels; full.")] = "full",
    seeds: Annotated[int, typer.Option(min=1, max=MOST_SEEDS, help="Seeds of each cell, from 0.")] = 3,
    alpha: Annotated[
        list[float] | None, typer.Option(help="Only cells with this α; may be repeated.", show_default=False)
    ] = None,
    p: Annotated[
        list[float] | None, typer.Option("--p", help="Only cells with this p_bc; may be repeated.", show_default=False)
    ] = None,
    rule: Annotated[
        list[str] | None,
        typer.Option(help=f"How updates are combined: {', '.join(RULES)}; may be repeated.", show_default="paper"),
    ] = None,
    sensitivity: Annotated[
        bool,
        typer.Option("--sensitivity", help="Instead: one change at a time to our readings, α = 0.1, p_bc = 0.1, 0.01."),
    ] = False,
    readings: Annotated[
        bool, typer.Option("--readings", help="Instead: energy and age under every reading, without learning.")
    ] = False,
    kept: Annotated[
        Path | None,
        typer.Option("--from", help="Run nothing; draw from a folder of tables that were kept.", show_default=False),
    ] = None,
    with_kept: Annotated[
        Path | None,
        typer.Option(
            "--with",
            help="Add to a folder of tables that were kept: their runs are not run again, and are shown too.",
            show_default=False,
        ),
    ] = None,
    setting: Setting = None,
    out: Annotated[Path, typer.Option(help="Folder of the study; one that is there goes on.")] = Path("runs/paper"),
    workers: Workers = 0,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Rerun the paper's study: 3 α × 3 p_bc × 4 policies; draw its figures and judge its claims."""
    settings = _settings(setting or [])
    if with_kept is not None and (readings or kept is not None):
        raise ConfigError("--with is for runs of the grid and --sensitivity; leave it out.")
    if kept is not None:
        _draw(kept, out, as_json=as_json)
        return
    if readings:
        carry_out_readings(seeds, settings, out, workers, dry_run=dry_run, as_json=as_json)
        return
    harvests = _known("--p", p, HARVESTS)
    if sensitivity:
        if rule or alpha:
            raise ConfigError(f"--sensitivity is for the paper's rule and α = {ALPHA:g}; leave out --rule and --alpha.")
        planned = plan_sensitivity(_checked(scale), seeds, out, settings, harvests=harvests or SENSITIVE)
    else:
        planned = plan_paper(
            _checked(scale),
            seeds,
            out,
            settings,
            rules=_known("--rule", rule, list(RULES)) or ["paper"],
            alphas=_known("--alpha", alpha, ALPHAS) or ALPHAS,
            harvests=harvests or HARVESTS,
        )
    if with_kept is not None:
        planned = plan_with(planned, with_kept)
        if not as_json:
            console.print(f"{planned.spared} more runs are in {with_kept}.", highlight=False, markup=False)
    if dry_run:
        show_forecast(planned.runs, workers, as_json=as_json)
        return
    with words_aside(as_json), stopping():
        sweep, shown = run_paper(planned, workers, OnScreen())
        say_finished(sweep)
    if shown is not None:
        _print(shown, as_json=as_json)
    exit_after(sweep)


def _draw(kept: Path, out: Path, *, as_json: bool) -> None:
    """Draws what a folder of tables holds, and prints what it says."""
    if kept.resolve() == out.resolve():
        raise ConfigError(f"{out} holds the tables; choose another folder for what is drawn (--out).")
    there = [name for name in (tables.RUNS, READINGS_TABLE) if (kept / name).exists()]
    if not there:
        raise ConfigError(f"{kept} holds neither {tables.RUNS} nor {READINGS_TABLE}, the tables of a study.")
    if as_json and len(there) > 1:
        raise ConfigError(f"{kept} holds two studies, and --json prints one document; leave it out.")
    if tables.RUNS in there:
        _print(paper_from(kept, out), as_json=as_json)
    if READINGS_TABLE in there:
        print_readings(readings_from(kept, out), as_json=as_json)


def _print(shown: Shown, *, as_json: bool) -> None:
    judgement = shown.judgement
    if as_json:
        claims = {
            rule: [
                asdict(claim) | {"cells": [{"alpha": a, "p": p, "verdict": v} for (a, p), v in claim.cells.items()]}
                for claim in own
            ]
            for rule, own in judgement.claims.items()
        }
        figures = [str(path) for path in shown.figures]
        print_json({"page": str(shown.page), "figures": figures, "claims": claims})
        return
    for rule, claims_of_rule in judgement.claims.items():
        console.print(f"{RULES[rule].title.capitalize()}:", highlight=False, markup=False)
        for claim in claims_of_rule:
            console.print(f"  {claim.verdict:14} {claim.text}", highlight=False, markup=False)
    console.print(f"The claims, with figures, are in {shown.page}", highlight=False, markup=False)


def _known(name: str, given: list[Value] | None, known: list[Value]) -> list[Value]:
    for one in given or ():
        if one not in known:
            raise ConfigError(f"{name} {one} is not one of the study's: {', '.join(map(str, known))}.")
    return list(dict.fromkeys(given or ()))


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
