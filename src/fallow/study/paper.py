"""The paper's study from plan to page: its runs, its figures, and its claims with what we found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fallow.errors import ConfigError, FallowError
from fallow.storage.files import write_atomically
from fallow.study.figures import draw_figures
from fallow.study.grid import ALPHAS, HARVESTS, RULES, Scale, build_grid, check_unset, merged
from fallow.study.kept import load_outcomes, write_outcomes
from fallow.study.outcomes import Outcomes, read_outcomes
from fallow.study.page import claims_page
from fallow.study.sensitivity import Variant, compare_variant, plan_defaults, plan_variants
from fallow.study.verdicts import Judgement, judge
from fallow.sweeps.execute import SweepResult, execute
from fallow.sweeps.grid import PlannedRun, plan
from fallow.sweeps.progress import Observer

PAGE = "claims.md"
FEATURES, PARAMETERS = 10, 845_738
"""Numbers in a feature and in a model of the paper's CNN at full width (reading 14)."""


@dataclass(frozen=True)
class PaperPlan:
    """The runs of the study.

    Attributes:
        scale: Of the study.
        out: The folder of the study.
        grid: The runs of the paper's grid, under each rule.
        variants: The runs under other readings of the paper.
        defaults: What those are compared with, by policy.
    """

    scale: Scale
    out: Path
    grid: list[PlannedRun]
    variants: list[tuple[Variant, list[PlannedRun]]]
    defaults: dict[str, list[PlannedRun]]

    @property
    def runs(self) -> list[PlannedRun]:
        """Every run."""
        variants = [run for _, own in self.variants for run in own]
        return self.grid + variants + [run for own in self.defaults.values() for run in own]


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
    sensitivity: bool = False,
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
        sensitivity: Whether to run one cell under other readings of the paper too.

    Raises:
        ConfigError: If a run is no experiment, or does not learn, or `settings` holds what differs from run to run.
    """
    elsewhere = {"policy.name": "`fallow sweep` takes a grid of your own", "seed": "use --seeds"}
    check_unset(settings or {}, {"data.alpha": "use --alpha", "energy.p": "use --p"} | elsewhere)
    grid: list[PlannedRun] = []
    for name in rules:
        chosen = merged(RULES[name].settings, dict(settings or {}))
        shared, axes = build_grid(scale, seeds, chosen, alphas, harvests)
        grid += plan(shared, axes, out / RULES[name].folder)
    if grid[0].experiment.learning.mode != "train":
        raise ConfigError("learning.mode = 'none' leaves nothing to compare; the study's runs must train.")
    common, _ = build_grid(scale, seeds, dict(settings or {}))
    variants = plan_variants(common, seeds, out / "sensitivity") if sensitivity else []
    defaults = plan_defaults(common, seeds, out / "sensitivity") if sensitivity else {}
    return PaperPlan(scale, out, grid, variants, defaults)


def run_paper(
    planned: PaperPlan, workers: int = 0, observer: Observer | None = None
) -> tuple[SweepResult, Shown | None]:
    """Carries out the study, and shows what all finished runs in its folder say; None as long as there is none.

    Args:
        planned: Its runs; what is finished is kept, and what earlier commands ran in the same folder is shown too.
        workers: Runs at a time; 0 is one for each processor.
        observer: Hears how it goes.
    """
    sweep = execute(planned.runs, planned.out, workers=workers, observer=observer)
    outcomes = {name: read_outcomes(planned.out / rule.folder) for name, rule in RULES.items()}
    outcomes = {name: own for name, own in outcomes.items() if own.runs}
    if not outcomes:
        return sweep, None
    write_outcomes(outcomes, planned.out)
    variants = [(variant, compare_variant(own, planned.defaults[variant.policy])) for variant, own in planned.variants]
    return sweep, show_outcomes(outcomes, planned.out, planned.scale, variants)


def show_outcomes(
    outcomes: Mapping[str, Outcomes],
    out: Path,
    scale: str | None = None,
    variants: Sequence[tuple[Variant, list[str]]] = (),
) -> Shown:
    """Judges the paper's claims, draws its figures, and returns where they are.

    Args:
        outcomes: What runs came to, by rule.
        out: Where page and figures go.
        scale: Of the study; None where it is not known.
        variants: Other readings, and what each changes.
    """
    judgement = judge({rule: own.runs for rule, own in outcomes.items()}, FEATURES, PARAMETERS)
    figures = [file for rule, own in outcomes.items() for file in draw_figures(own, out / "figures" / rule)]
    write_atomically(out / PAGE, claims_page(judgement, outcomes, scale, variants).encode())
    return Shown(judgement, figures, out / PAGE)


def paper_from(folder: Path, out: Path) -> Shown:
    """Shows what a study says, from tables that were kept; nothing is run.

    Args:
        folder: It holds runs.csv and bands.csv.
        out: Where page and figures go.

    Raises:
        FallowError: A table can't be read, or is empty or another's.
    """
    try:
        outcomes = load_outcomes(folder)
    except (KeyError, TypeError, ValueError) as error:
        raise FallowError(f"{folder} holds tables that `fallow paper` did not write.") from error
    if not outcomes or not outcomes.keys() <= RULES.keys():
        raise FallowError(f"{folder} holds no runs of a rule that is known: {', '.join(RULES)}.")
    return show_outcomes(outcomes, out)
