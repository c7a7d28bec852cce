"""How long runs will take, within about ten seconds of looking: some worlds are lived through, some steps are timed."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import astuple, dataclass
from typing import TypeVar

import numpy as np

from fallow.processors import available_processors
from fallow.runs.layout import is_finished
from fallow.sweeps.checks import check_directories
from fallow.sweeps.grid import PlannedRun
from fallow.sweeps.timing import (
    Life,
    Steps,
    estimate_seconds,
    live,
    step_kind,
    time_loading,
    time_steps,
    until,
    world_kind,
)

WORLD_SECONDS = 3.0
STEP_SECONDS = 4.0
"""How long worlds are lived through, and steps timed, before what is left is taken to be as what was seen."""

Numbers = TypeVar("Numbers", Life, Steps)


@dataclass(frozen=True)
class Forecast:
    """What many runs will take.

    Attributes:
        runs: How many there are.
        finished: How many of them need nothing more.
        at_once: How many of the others run at a time.
        seconds: About how long they take, all in all.
    """

    runs: int
    finished: int
    at_once: int
    seconds: float


def forecast(runs: Sequence[PlannedRun], workers: int = 0, say: Callable[[str], None] = lambda _: None) -> Forecast:
    """Returns about how long runs take.

    Runs that differ by their seed, or by something else that costs no time, are of one kind. If there are too many
    kinds to look at each, the others are taken to be as the mean of those that were looked at.

    Args:
        runs: Of which some may be finished.
        workers: How many run at a time; 0 is one for each processor.
        say: Told what is being done.

    Raises:
        RunDirectoryError: If a run can't be carried out in its directory.
    """
    check_directories(runs)
    left = [run.experiment for run in runs if not is_finished(run.directory)]
    at_once = min(workers or available_processors(), max(len(left), 1))
    if not left:
        return Forecast(len(runs), len(runs), at_once, 0.0)
    worlds = [world_kind(one) for one in left]
    learning = [step_kind(one) if one.learning.mode == "train" else None for one in left]
    one_of_each = {kind: one for kind, one in zip(learning, left, strict=True) if kind is not None}
    some = f"{len(set(worlds)):,} of the runs" if len(set(worlds)) > 1 else "a run"
    say(f"Living through {some} without learning{', and timing steps of learning' if one_of_each else ''} …")
    lives = until(WORLD_SECONDS, dict(zip(worlds, left, strict=True)), live)
    loading = time_loading() if one_of_each else 0.0
    steps = until(STEP_SECONDS, one_of_each, lambda experiment, _: time_steps(experiment)) if one_of_each else {}
    usual_life = _mean(Life, lives.values())
    usual_steps = _mean(Steps, steps.values()) if steps else None
    seconds = sum(
        estimate_seconds(one, lives.get(world, usual_life), None if kind is None else steps.get(kind, usual_steps))
        for one, world, kind in zip(left, worlds, learning, strict=True)
    )
    return Forecast(len(runs), len(runs) - len(left), at_once, loading + seconds / at_once)


def _mean(cls: type[Numbers], found: Collection[Numbers]) -> Numbers:
    """Returns the mean of each number over what was found."""
    return cls(*np.mean([astuple(one) for one in found], axis=0).tolist())
