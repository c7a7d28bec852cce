"""The paper's study from plan to page: its runs, its figures, and its claims with what we found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fallow.errors import ConfigError
from fallow.storage.files import write_atomically
from fallow.study.conditions import (
    SETTINGS,
    Conditions,
    check_alike,
    planned_conditions,
    read_conditions,
    write_conditions,
)
from fallow.study.figures import draw_figures
from fallow.study.grid import ALPHAS, HARVESTS, RULES, Scale, build_grid, check_unset, merged
from fallow.study.joined import Kept, check_epochs, check_length, join, load_kept
from fallow.study.kept import write_outcomes, write_varied
from fallow.study.outcomes import Outcomes, read_outcomes
from fallow.study.page import claims_page
from fallow.study.sensitivity import ALPHA, FOLDER, VARIANTS, Varied, plan_variants, read_varied
from fallow.study.sensitivity import HARVESTS as SENSITIVE
from fallow.study.verdicts import Comparing, Judgement, judge
from fallow.sweeps.execute import SweepResult, execute
from fallow.sweeps.grid import PlannedRun, plan
from fallow.sweeps.progress import Observer

PAGE = "claims.md"
FEATURES = Comparing(kept=10, operations=15 * 78_383_616)
PARAMETERS = Comparing(kept=845_738, operations=3 * 845_738)
"""Of the paper's CNN at full width (reading 14): a pass of 15 images; and a difference, its square and the sum."""


@dataclass(frozen=True)
class PaperPlan:
    """The runs of the study.

    Attributes:
        scale: Of the study.
        out: The folder of the study.
        runs: Every run that is to be carried out.
        kept: The tables that these join, if there are any.
        spared: How many more runs were planned, and are in those tables.
    """

    scale: Scale
    out: Path
    runs: list[PlannedRun]
    kept: Kept | None = None
    spared: int = 0


@dataclass(frozen=True)
class Shown:
    """What the study says.

    Attributes:
        judgement: Every claim with its verdict.
        figures: The files of the figures.
        page: The claims, with figures, as Markdown.
    """

    judgement: Judgement
    figures: list[Path]
    page: Path


def plan_paper(
    scale: Scale,
    seeds: int,
    out: Path,
    settings: Mapping[str, Any] | None = None,
    *,
    rules: Sequence[str] = ("paper",),
    alphas: Sequence[float] = ALPHAS,
    harvests: Sequence[float] = HARVESTS,
) -> PaperPlan:
    """Returns the runs of the study, each checked.

    Args:
        scale: "full" is the paper's; "half" has half the channels; "smoke" only shows that it works.
        seeds: How many, from 0.
        out: The folder of the study.
        settings: What to change in all runs, by section.
        rules: How updates become a model, by name: those of `fallow.study.grid.RULES`.
        alphas: The α of the cells to run now.
        harvests: The p_bc of the cells to run now.

    Raises:
        ConfigError: If a run is no experiment, or does not learn, or `settings` holds what differs from run to run.
    """
    elsewhere = {"policy.name": "`fallow sweep` takes a grid of your own", "seed": "use --seeds"}
    check_unset(settings or {}, {"data.alpha": "use --alpha", "energy.p": "use --p"} | elsewhere)
    runs: list[PlannedRun] = []
    for name in rules:
        chosen = merged(RULES[name].settings, dict(settings or {}))
        shared, axes = build_grid(scale, seeds, chosen, alphas, harvests)
        runs += plan(shared, axes, out / RULES[name].folder)
    if runs[0].experiment.learning.mode != "train":
        raise ConfigError("learning.mode = 'none' leaves nothing to compare; the study's runs must train.")
    return PaperPlan(scale, out, runs)


def plan_sensitivity(
    scale: Scale,
    seeds: int,
    out: Path,
    settings: Mapping[str, Any] | None = None,
    *,
    harvests: Sequence[float] = SENSITIVE,
) -> PaperPlan:
    """Returns the runs under other readings, one change at a time, and those of the grid that they are compared with.

    Args:
        scale: As of `plan_paper`.
        seeds: How many, from 0.
        out: The folder of the study.
        settings: What to change in all runs, by section.
        harvests: The p_bc of the cells to run now.

    Raises:
        ConfigError: As of `plan_paper`; or a p_bc is none of those that variants are tried with.
    """
    grid = plan_paper(scale, seeds, out, settings, alphas=[ALPHA], harvests=harvests)
    compared = {variant.policy for variant in VARIANTS}
    shared, _ = build_grid(scale, seeds, dict(settings or {}))
    variants = plan_variants(shared, seeds, out / FOLDER, harvests)
    return PaperPlan(scale, out, [run for run in grid.runs if run.point["policy.name"] in compared] + variants)


def plan_with(planned: PaperPlan, folder: Path) -> PaperPlan:
    """Returns the plan without the runs that stand in tables that were kept, to which its runs are added.

    Args:
        planned: A study.
        folder: With the tables of the same study, perhaps from another machine.

    Raises:
        FallowError: A table can't be read, or its runs were made under other settings.
    """
    if folder.resolve() == planned.out.resolve():
        raise ConfigError(f"{folder} holds the tables; choose another folder for the study (--out).")
    kept = load_kept(folder)
    if not kept.conditions:
        raise ConfigError(f"{folder} holds no {SETTINGS}, so nobody can tell whether other runs may join its tables.")
    check_alike(kept.conditions, planned_conditions(planned.runs, planned.out), folder)
    left = [run for run in planned.runs if not _is_kept(run, planned.out, kept)]
    return replace(planned, runs=left, kept=kept, spared=len(planned.runs) - len(left))


def _is_kept(run: PlannedRun, out: Path, kept: Kept) -> bool:
    """Returns whether tables hold a run that is planned, and checks that it is as long as their others."""
    folder = run.directory.parent.relative_to(out)
    for name, rule in RULES.items():
        if rule.folder == str(folder):
            cell, policy = (run.point["data.alpha"], run.point["energy.p"]), run.point["policy.name"]
            own = kept.outcomes.get(name, Outcomes())
            check_length(own, cell, policy, run.experiment.epochs, kept.folder)
            return (cell, policy, run.point["seed"]) in own.runs
    variant, p = folder.name, run.point["energy.p"]
    for (name, harvest, _), one in kept.varied.items():
        if (name, harvest) == (variant, p):
            check_epochs(one, run.experiment.epochs, f"{variant} with p_bc = {p:g}", kept.folder)
    return (variant, p, run.point["seed"]) in kept.varied


def run_paper(
    planned: PaperPlan, workers: int = 0, observer: Observer | None = None
) -> tuple[SweepResult, Shown | None]:
    """Carries out the study, and shows what all finished runs in its folder say; None as long as there is none.

    Args:
        planned: Its runs; what is finished is kept, and what earlier commands ran in the same folder is shown too.
        workers: Runs at a time; 0 is one for each processor.
        observer: Hears how it goes.
    """
    if planned.kept:
        _gather(planned)  # what can't be joined is said before the first run begins
    sweep = execute(planned.runs, planned.out, workers=workers, observer=observer)
    outcomes, varied, conditions = _gather(planned)
    if not outcomes:
        return sweep, None
    write_outcomes(outcomes, planned.out)
    write_varied(varied, planned.out)
    write_conditions(conditions, planned.scale, planned.out)
    return sweep, show_outcomes(outcomes, planned.out, planned.scale, varied)


def _gather(planned: PaperPlan) -> tuple[dict[str, Outcomes], Varied, Conditions]:
    """Returns what all runs came to, those in the folder of the study and those that were kept, with their settings."""
    found = {name: read_outcomes(planned.out / rule.folder) for name, rule in RULES.items()}
    outcomes = {name: own for name, own in found.items() if own.runs}
    varied = read_varied(planned.out / FOLDER)
    conditions = read_conditions(planned.out)
    if not planned.kept:
        return outcomes, varied, conditions
    check_alike(planned.kept.conditions, conditions, planned.kept.folder)
    return *join(planned.kept, outcomes, varied), planned.kept.conditions | conditions


def show_outcomes(
    outcomes: Mapping[str, Outcomes],
    out: Path,
    scale: str | None = None,
    varied: Varied | None = None,
) -> Shown:
    """Judges the paper's claims, draws its figures, and returns where they are.

    Args:
        outcomes: What runs came to, by rule.
        out: Where page and figures go.
        scale: Of the study; None where it is not known.
        varied: What runs under other readings came to.
    """
    judgement = judge({rule: own.runs for rule, own in outcomes.items()}, FEATURES, PARAMETERS)
    figures = [file for rule, own in outcomes.items() for file in draw_figures(own, out / "figures" / rule)]
    write_atomically(out / PAGE, claims_page(judgement, outcomes, scale, varied).encode())
    return Shown(judgement, figures, out / PAGE)


def paper_from(folder: Path, out: Path) -> Shown:
    """Shows what a study says, from tables that were kept; nothing is run.

    Args:
        folder: It holds runs.csv and bands.csv, and may hold sensitivity.csv and settings.toml.
        out: Where page and figures go.

    Raises:
        FallowError: A table can't be read, or is empty or another's.
    """
    kept = load_kept(folder)
    return show_outcomes(kept.outcomes, out, kept.scale, kept.varied)
