"""The paper's study from plan to page: its runs, its figures, and its claims with what we found."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fallow.errors import ConfigError
from fallow.storage.files import write_atomically
from fallow.study.claims import Claim, judge
from fallow.study.figures import draw_figures
from fallow.study.grid import Scale, build_grid, check_unset
from fallow.study.page import claims_page
from fallow.study.results import read_results
from fallow.study.sensitivity import Variant, compare_variant, plan_defaults, plan_variants
from fallow.sweeps.execute import SweepResult, execute
from fallow.sweeps.grid import PlannedRun, plan
from fallow.sweeps.progress import Observer

PAGE = "claims.md"


@dataclass(frozen=True)
class PaperPlan:
    """The runs of the study.

    Attributes:
        scale: Of the study.
        seeds: Of each cell.
        out: The folder of the study.
        grid: The runs of the paper's grid.
        variants: The runs under other readings of the paper.
        defaults: What those are compared with, by policy.
    """

    scale: Scale
    seeds: int
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
class PaperResult:
    """What came of the study.

    Attributes:
        sweep: What came of its runs.
        claims: Every claim with its verdict.
        figures: The files of the figures.
        page: The claims, with figures, as Markdown; None if no run of the grid is finished.
    """

    sweep: SweepResult
    claims: list[Claim]
    figures: list[Path]
    page: Path | None


def plan_paper(
    scale: Scale, seeds: int, out: Path, settings: Mapping[str, Any] | None = None, *, sensitivity: bool = False
) -> PaperPlan:
    """Returns the runs of the study, each checked.

    Args:
        scale: "full" is the paper's; "half" has half the channels; "smoke" only shows that it works.
        seeds: How many, from 0.
        out: The folder of the study.
        settings: What to change in all runs, by section.
        sensitivity: Whether to run one cell under other readings of the paper too.

    Raises:
        ConfigError: If a run is no experiment, or does not learn, or `settings` holds what differs from run to run.
    """
    shared, grid = build_grid(scale, seeds, dict(settings or {}))
    in_a_sweep = "`fallow sweep` takes a grid of your own"
    check_unset(settings or {}, dict.fromkeys(grid, in_a_sweep) | {"seed": "use --seeds"})
    runs = plan(shared, grid, out / "runs")
    if runs[0].experiment.learning.mode != "train":
        raise ConfigError("learning.mode = 'none' leaves nothing to compare; the study's runs must train.")
    variants = plan_variants(shared, seeds, out / "sensitivity") if sensitivity else []
    defaults = plan_defaults(shared, seeds, out / "sensitivity") if sensitivity else {}
    return PaperPlan(scale, seeds, out, runs, variants, defaults)


def run_paper(planned: PaperPlan, workers: int = 0, observer: Observer | None = None) -> PaperResult:
    """Carries out the study, judges the paper's claims, draws its figures, and returns the result.

    Args:
        planned: Its runs; what is finished is kept.
        workers: Runs at a time; 0 is one for each processor.
        observer: Hears how it goes.
    """
    sweep = execute(planned.runs, planned.out, workers=workers, observer=observer)
    results = read_results(planned.grid)
    if not results:
        return PaperResult(sweep, [], [], None)
    figures = draw_figures(results, planned.out / "figures")
    variants = [(variant, compare_variant(own, planned.defaults[variant.policy])) for variant, own in planned.variants]
    claims = judge(results, *count_numbers(planned.grid[0]))
    page = claims_page(claims, planned.scale, planned.seeds, len(results), len(planned.grid), variants)
    write_atomically(planned.out / PAGE, page.encode())
    return PaperResult(sweep, claims, figures, planned.out / PAGE)


def count_numbers(run: PlannedRun) -> tuple[int, int]:
    """Returns how many numbers a feature vector and a model of a run have.

    Args:
        run: Its experiment names the dataset and the model.
    """
    from fallow.simulation.engine import Engine

    learner = Engine(run.experiment, workers=1).learner
    assert learner is not None  # noqa: S101
    return learner.task.network.feature_size, learner.task.network.size
