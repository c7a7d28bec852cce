"""``fallow.sweep`` and ``fallow.compare``: many runs of one experiment, from Python."""

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fallow.errors import ConfigError, FallowError
from fallow.experiment import Experiment, check_experiment
from fallow.runs.layout import as_folder
from fallow.study.grid import POLICIES
from fallow.study.study import Study, make_study
from fallow.sweeps.axes import list_axes, list_values
from fallow.sweeps.execute import SweepResult, execute
from fallow.sweeps.grid import PlannedRun, plan
from fallow.sweeps.parts import given_settings
from fallow.sweeps.progress import Observer, OnScreen, count_runs
from fallow.sweeps.shards import Shard

OPTIONS = ("out", "workers", "ray", "shard", "progress")


def sweep(
    experiment: Experiment,
    out: str | Path,
    *,
    workers: int = 0,
    ray: str | None = None,
    shard: str | None = None,
    progress: bool = True,
    **axes: Any,
) -> Study:
    """Runs an experiment at every point of a grid and returns the study of what came of it.

    What is finished in `out` is kept and what was stopped goes on, so the same call can be made again.

    Args:
        experiment: What all runs have in common.
        out: The folder of the runs.
        workers: Runs at a time; 0 is one for each processor. A class that only this program has, as one of a notebook,
            can't be sent to other processes: its runs go one after the other.
        ray: Run on a Ray cluster: "auto", "HOST:PORT", "ray://HOST:PORT", or "local" for this machine alone.
        shard: Carry out a part of the runs, as in "1/4"; others may carry out theirs in the same folder.
        progress: Whether to show bars on a terminal or in a notebook.
        **axes: The values of a setting, as in ``seed=range(5)``, ``energy__p=[0.1, 1.0]``, or of a section, as in
            ``policy=[VAoI(k=5), "fedavg"]``. The last axis changes fastest.

    Returns:
        The study of the finished runs of the grid.

    Raises:
        FallowError: If something is wrong before the first run begins, or every run fails. If some fail, a warning
            says so, and the study's `failures` say why.

    Examples:
        >>> from tempfile import mkdtemp
        >>> from fallow.policies import FedAvg, VAoI
        >>> experiment = Experiment(clients=20, epochs=5)
        >>> study = sweep(experiment, mkdtemp(), policy=[VAoI(k=5), FedAvg()], seed=range(2), progress=False)
        >>> [run.point["policy"] for run in study.members]
        ['vaoi', 'vaoi', 'fedavg', 'fedavg']
    """
    check_experiment(experiment)
    folder = as_folder(out, "out")
    if not axes:
        raise ConfigError("A sweep needs an axis, as in seed=range(3); fallow.run carries out a single run.")
    runs = plan(given_settings(experiment), list_axes(axes, OPTIONS), folder)
    part = Shard.parse(shard) if shard is not None else None
    observer = OnScreen(show=progress)
    result, study = study_runs(runs, folder, workers=workers, ray=ray, shard=part, observer=observer)
    if result.failures:
        _report_failures(result)
    return study


def compare(
    experiment: Experiment,
    out: str | Path,
    *,
    policies: Iterable[Any] = tuple(POLICIES),
    seeds: int | Iterable[int] = 3,
    workers: int = 0,
    ray: str | None = None,
    shard: str | None = None,
    progress: bool = True,
) -> Study:
    """Runs policies on the same harvest and the same data, over several seeds, and returns the study.

    Args:
        experiment: What all runs have in common.
        out: The folder of the runs.
        policies: Names, classes or objects; the paper's four unless given.
        seeds: How many, from 0, or which.
        workers: Runs at a time; 0 is one for each processor.
        ray: The address of a Ray cluster to run on; see `sweep`.
        shard: Carry out a part of the runs, as in "1/4".
        progress: Whether to show bars on a terminal or in a notebook.

    Returns:
        The study of the finished runs.

    Raises:
        FallowError: As `sweep` does.

    Examples:
        >>> from tempfile import mkdtemp
        >>> study = compare(Experiment(clients=20, epochs=5), mkdtemp(), seeds=1, progress=False)
        >>> study.axes, len(study)
        (['policy'], 4)
    """
    if isinstance(seeds, int) and seeds < 1:
        raise ConfigError(f"seeds = {seeds} must be at least 1.")
    return sweep(
        experiment,
        out,
        workers=workers,
        ray=ray,
        shard=shard,
        progress=progress,
        policy=list_values("policies", policies),
        seed=range(seeds) if isinstance(seeds, int) else seeds,
    )


def study_runs(
    runs: Sequence[PlannedRun],
    out: Path,
    *,
    workers: int = 0,
    ray: str | None = None,
    shard: Shard | None = None,
    observer: Observer | None = None,
) -> tuple[SweepResult, Study]:
    """Carries out planned runs, and returns the result and the study.

    Args:
        runs: What to carry out.
        out: The folder of the sweep.
        workers: Runs at a time; 0: one for each processor.
        ray: The address of a Ray cluster; None: this machine without Ray.
        shard: The share of the runs to carry out; None: all.
        observer: Hears how the runs go.
    """
    result = execute(runs, out, workers=workers, ray=ray, shard=shard, observer=observer)
    return result, make_study(out, [run.directory for run in runs], result.failures)


def _report_failures(result: SweepResult) -> None:
    name, reason = next(iter(result.failures.items()))
    failed = f"{len(result.failures)} of {count_runs(result.share)} failed; the first, {name}: {reason}"
    if not result.rows:
        raise FallowError(failed)
    warnings.warn(f"{failed} The study's failures say why the others did.", stacklevel=3)
