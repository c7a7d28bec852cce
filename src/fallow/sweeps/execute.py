"""The runs of a sweep, carried out: each is begun or taken up, and what is finished is written to a table."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fallow.errors import ConfigError
from fallow.experiment import bound_to_process
from fallow.processors import available_processors, check_workers
from fallow.runs.layout import is_finished
from fallow.sweeps.grid import PlannedRun
from fallow.sweeps.progress import Observer, OnScreen, Watch
from fallow.sweeps.shards import Shard
from fallow.sweeps.table import TABLE, check_table, update_table

if TYPE_CHECKING:
    from fallow.sweeps.pool import RunProgress


@dataclass(frozen=True)
class SweepResult:
    """What came of many runs.

    Attributes:
        runs: How many the grid has.
        share: How many of them this shard carries out; all without shards.
        rows: A row for each that is finished, now or before: its place in the grid, then its summary.
        failures: Why runs failed, by their names.
        table: The file with the rows.
        seconds: How long it took; None if there was nothing left to do.
    """

    runs: int
    share: int
    rows: list[dict[str, Any]]
    failures: dict[str, str]
    table: Path
    seconds: float | None


def execute(
    runs: Sequence[PlannedRun],
    out: Path,
    *,
    workers: int = 0,
    ray: str | None = None,
    shard: Shard | None = None,
    observer: Observer | None = None,
) -> SweepResult:
    """Carries out what is left of the runs, writes the table of all that are finished, and returns the result.

    Args:
        runs: Every run of the grid.
        out: The sweep's folder, where the table goes.
        workers: Runs at a time; 0 is one for each processor.
        ray: The address of a Ray cluster to run on.
        shard: Which part of the runs to carry out; others may carry out theirs in the same folder at the same time.
        observer: Hears how it goes.

    Raises:
        FallowError: If something is wrong before the first run begins. What goes wrong in a run is in the result.
    """
    from fallow.sweeps.checks import check_directories, check_inputs  # so that reading a study stays light

    check_workers(workers)
    if ray is not None and not isinstance(ray, str):
        raise ConfigError(f"ray = {ray!r} must be an address, as in ray='auto', or ray='local' for this machine.")
    if shard and ray is not None:
        raise ConfigError("A shard and a Ray cluster both say who carries out which runs; choose one of the two.")
    observer = observer or OnScreen(show=False)
    share = shard.share(runs) if shard else list(runs)
    check_directories(share)
    check_table(out / TABLE)
    left = [run for run in share if not is_finished(run.directory)]
    carry_out = _choose_workers(left, out, workers, ray, observer)
    if ray is None:  # a cluster's nodes have their own data
        check_inputs(run.experiment for run in left)
    begin = time.monotonic()
    with observer.watch(len(left), len(share), sum(run.experiment.epochs for run in left)) as watch:
        listener = _Listener(watch, out)
        carry_out(listener.hear)
    rows = update_table(out / TABLE, runs)
    seconds = time.monotonic() - begin if left else None
    return SweepResult(len(runs), len(share), rows, _failures(share, out, listener.failures), out / TABLE, seconds)


def _failures(share: Sequence[PlannedRun], out: Path, heard: Mapping[str, str]) -> dict[str, str]:
    """Returns why runs are not finished, by their names: what was heard of them, if no other process finished them."""
    unfinished = [str(run.directory.relative_to(out)) for run in share if not is_finished(run.directory)]
    removed = "it was finished, and is so no longer: another process has removed or replaced it."
    return {name: heard.get(name, removed) for name in unfinished}


Hear = Callable[["RunProgress"], None]


def _choose_workers(
    left: Sequence[PlannedRun], out: Path, workers: int, ray: str | None, observer: Observer
) -> Callable[[Hear], None]:
    """Returns what carries out runs: this process, several, or a cluster."""
    from fallow.sweeps import pool, ray_pool

    bound = next(filter(None, (bound_to_process(run.experiment) for run in left)), "").rpartition(":")[2]
    if bound and ray is not None:
        raise ConfigError(
            f"{bound} is defined in this program alone, so a Ray cluster can't load it; put it into a module that all "
            "nodes can import."
        )
    if bound:
        observer.note(
            f"{bound} is defined in this program alone, so the runs are carried out one after the other; in a module "
            "of its own they would share the processors."
        )
        return lambda hear: pool.run_here(left, hear)

    def carry_out(hear: Hear) -> None:
        processes = min(workers or available_processors(), max(len(left), 1))
        reports = (
            pool.run_all(list(left), processes) if ray is None else ray_pool.run_all(list(left), out, ray, workers)
        )
        with closing(reports):
            for progress in reports:
                hear(progress)

    return carry_out


class _Listener:
    """Passes on how runs go, and remembers why some failed, by their names."""

    def __init__(self, watch: Watch, out: Path) -> None:
        self.failures: dict[str, str] = {}
        self._watch = watch
        self._out = out

    def hear(self, progress: "RunProgress") -> None:
        """Hears of one run."""
        name = str(progress.run.directory.relative_to(self._out))
        self._watch.advance(name, progress.epochs, progress.run.experiment.epochs)
        if progress.failure:
            self.failures[name] = progress.failure
        if progress.failure or progress.finished:
            self._watch.end(name)
