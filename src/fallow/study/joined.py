"""Tables of a study that were kept, and runs that join them: other seeds and cells, perhaps made on another machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fallow.errors import FallowError
from fallow.study.claims import where
from fallow.study.conditions import Conditions, load_conditions
from fallow.study.grid import RULES
from fallow.study.kept import load_outcomes, load_varied
from fallow.study.outcomes import Band, Cell, Curves, Outcome, Outcomes
from fallow.study.sensitivity import Varied


@dataclass(frozen=True, eq=False)
class Kept:
    """What a study came to, from the tables that were kept of it.

    Attributes:
        folder: Of the tables.
        outcomes: What runs of the grid came to, by rule.
        varied: What runs under other readings came to.
        conditions: Under which settings, by kind of run; empty where that was not kept.
        scale: Of the study; None where that was not kept.
    """

    folder: Path
    outcomes: dict[str, Outcomes]
    varied: Varied
    conditions: Conditions
    scale: str | None


def load_kept(folder: Path) -> Kept:
    """Returns what the tables in a folder hold.

    Args:
        folder: It holds runs.csv and bands.csv, and may hold sensitivity.csv and settings.toml.

    Raises:
        FallowError: A table can't be read, or is empty or another's.
    """
    try:
        outcomes, varied = load_outcomes(folder), load_varied(folder)
    except (KeyError, TypeError, ValueError) as error:
        raise FallowError(f"{folder} holds tables that `fallow paper` did not write.") from error
    if not outcomes or not outcomes.keys() <= RULES.keys():
        raise FallowError(f"{folder} holds no runs of a rule that is known: {', '.join(RULES)}.")
    return Kept(folder, outcomes, varied, *load_conditions(folder))


def join(kept: Kept, outcomes: Mapping[str, Outcomes], varied: Varied) -> tuple[dict[str, Outcomes], Varied]:
    """Returns what all runs came to, those that were kept and the others.

    Args:
        kept: From tables.
        outcomes: What the other runs came to, by rule.
        varied: What the other runs under other readings came to.

    Raises:
        FallowError: Both have a run, or the runs of one line of a figure are not equally long.
    """
    nothing = Outcomes()
    both = {
        rule: _join_rule(kept.outcomes.get(rule, nothing), outcomes.get(rule, nothing), kept.folder)
        for rule in RULES
        if rule in kept.outcomes or rule in outcomes
    }
    for variant, p, seed in kept.varied.keys() & varied.keys():
        raise _twice(kept.folder, f"the run of {variant} with p_bc = {p:g}, seed = {seed}")
    return both, {**kept.varied, **varied}


def _join_rule(kept: Outcomes, new: Outcomes, folder: Path) -> Outcomes:
    for cell, policy, seed in sorted(kept.runs.keys() & new.runs.keys()):
        raise _twice(folder, f"the run of {policy} with {where(cell)}, seed = {seed}")
    for (cell, policy, _), run in new.runs.items():
        check_length(kept, cell, policy, run.epochs, folder)
    curves: Curves = {**kept.curves, **new.curves}
    for key in kept.curves.keys() & new.curves.keys():
        curves[key] = join_bands(kept.curves[key], new.curves[key])
    return Outcomes({**kept.runs, **new.runs}, curves)


def check_length(kept: Outcomes, cell: Cell, policy: str, epochs: int, folder: Path) -> None:
    """Checks that a run is as long as those that were kept of the same cell and policy, if there are any.

    Args:
        kept: Under the rule of the run.
        cell: Of the run.
        policy: Of the run.
        epochs: Of the run.
        folder: Of the kept tables.

    Raises:
        FallowError: It is not.
    """
    for (own, name, _), run in kept.runs.items():
        if (own, name) == (cell, policy):
            check_epochs(run, epochs, f"{policy} with {where(cell)}", folder)


def check_epochs(kept: Outcome, epochs: int, what: str, folder: Path) -> None:
    """Checks that a run is as long as one that was kept.

    Args:
        kept: What the other came to.
        epochs: Of the run.
        what: What both are runs of.
        folder: Of the kept tables.

    Raises:
        FallowError: It is not.
    """
    if kept.epochs != epochs:
        raise FallowError(
            f"{folder} holds runs of {what} over {kept.epochs} epochs, not {epochs}; "
            f"what joins them needs as many (--set epochs={kept.epochs})."
        )


def join_bands(one: Band, two: Band) -> Band:
    """Returns the band over the seeds of both, which differ, at the epochs that both have.

    Args:
        one: Over some seeds.
        two: Over others.
    """
    epochs, here, there = np.intersect1d(one.epochs, two.epochs, return_indices=True)
    seeds = one.seeds + two.seeds
    return Band(
        epochs,
        (one.seeds * one.mean[here] + two.seeds * two.mean[there]) / seeds,
        np.minimum(one.low[here], two.low[there]),
        np.maximum(one.high[here], two.high[there]),
        seeds,
    )


def _twice(folder: Path, run: str) -> FallowError:
    return FallowError(f"{folder} holds {run}, and so does the folder of this study; remove it from one of the two.")
