"""``fallow paper``: the paper's study, its figures and its claims."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from fallow.cli.screen import Json, console, print_json, words_aside
from fallow.cli.sweep import DryRun, Setting, Workers, carry_out, show_forecast
from fallow.errors import ConfigError
from fallow.experiment.settings import override
from fallow.storage.files import write_atomically
from fallow.study.claims import judge
from fallow.study.figures import draw_figures
from fallow.study.grid import SCALES, Scale, study
from fallow.study.page import claims_page
from fallow.study.results import read_results
from fallow.study.sensitivity import compare_variant, plan_defaults, plan_variants
from fallow.sweeps.grid import PlannedRun, plan


def paper(
    scale: Annotated[str, typer.Option(help="smoke: minutes, to see it work; half: half the channels; full.")] = "full",
    seeds: Annotated[int, typer.Option(min=1, help="Seeds of each cell, from 0.")] = 3,
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
    chosen = _checked(scale)
    shared, grid = study(chosen, seeds, _settings(setting or []))
    runs = plan(shared, grid, out / "runs")
    if runs[0].experiment.learning.mode != "train":
        raise ConfigError("learning.mode = 'none' leaves nothing to compare; the study's runs must train.")
    planned = plan_variants(shared, seeds, out / "sensitivity") if sensitivity else []
    defaults = plan_defaults(shared, seeds, out / "sensitivity") if sensitivity else {}
    everything = runs + [run for _, own in planned for run in own] + [run for own in defaults.values() for run in own]
    if dry_run:
        show_forecast(everything, workers, as_json=as_json)
        return
    with words_aside(as_json):
        outcome = carry_out(everything, out, workers, show_table=False)
    results = read_results(runs)
    if not results:
        outcome.leave()
    figures = draw_figures(results, out / "figures")
    variants = [(variant, compare_variant(own, defaults[variant.policy])) for variant, own in planned]
    claims = judge(results, *_sizes(runs[0]))
    page = claims_page(claims, scale, seeds, len(results), len(runs), variants)
    write_atomically(out / "claims.md", page.encode())
    if as_json:
        judged = [asdict(claim) for claim in claims]
        print_json({"page": str(out / "claims.md"), "figures": [str(path) for path in figures], "claims": judged})
    else:
        for claim in claims:
            console.print(f"{claim.verdict:14} {claim.text}", highlight=False, markup=False)
        console.print(f"The claims, with figures, are in {out / 'claims.md'}", highlight=False, markup=False)
    outcome.leave()


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


def _sizes(run: PlannedRun) -> tuple[int, int]:
    """Returns the numbers in a feature and in a model."""
    from fallow.simulation.engine import Engine

    learner = Engine(run.experiment, workers=1).learner
    assert learner is not None  # noqa: S101
    return learner.task.network.feature_size, learner.task.network.size
