"""``fallow sweep`` and ``fallow compare``: many runs at once, and their table."""

import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from fallow.cli.screen import Json, console, errors, print_json, words_aside
from fallow.errors import ConfigError
from fallow.processors import available_processors
from fallow.runs.layout import is_finished
from fallow.runs.summary import mean_and_spread
from fallow.sweeps import pool, ray_pool
from fallow.sweeps.forecast import forecast
from fallow.sweeps.grid import (
    TABLE,
    PlannedRun,
    check_directories,
    check_inputs,
    finished_rows,
    plan,
    read_grid,
    write_table,
)

PAPER_POLICIES = "vaoi,fedavg,fedbacys,fedbacys-odd"

Config = Annotated[Path | None, typer.Argument(help="Experiment in TOML; it may hold the grid.", show_default=False)]
Setting = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change one setting of every run; may be repeated."),
]
Workers = Annotated[int, typer.Option(min=0, help="Runs at a time; 0 is one for each processor.")]
Ray = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Run on a Ray cluster: auto, HOST:PORT, ray://HOST:PORT, or local for this machine alone.",
        show_default=False,
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say how many runs, and about how long, and stop.")]


@dataclass(frozen=True)
class Outcome:
    """What came of many runs.

    Attributes:
        runs: How many were wanted.
        rows: A row for each that is finished, now or before: its place in the grid, then its summary.
        failures: Why the others failed, by their names.
        table: The file with the rows.
    """

    runs: int
    rows: list[dict[str, Any]]
    failures: dict[str, str]
    table: Path

    def leave(self) -> None:
        """Ends the program with an error, if a run failed."""
        if self.failures:
            raise typer.Exit(1)


def sweep(
    config: Config = None,
    axis: Annotated[
        list[str] | None,
        typer.Option("--grid", metavar="KEY=A,B,…", help="One axis of the grid, as in seed=0,1,2; may be repeated."),
    ] = None,
    setting: Setting = None,
    out: Annotated[Path, typer.Option(help="Folder of the runs; a sweep that is there goes on.")] = Path("runs/sweep"),
    workers: Workers = 0,
    ray: Ray = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Run a grid of experiments; what is finished is kept, what was killed goes on."""
    with words_aside(as_json):
        shared, grid = read_grid(config, setting or (), axis or ())
        runs = plan(shared, grid, out)
    _sweep(runs, out, workers, ray, dry_run=dry_run, as_json=as_json)


def compare(
    config: Config = None,
    policies: Annotated[str, typer.Option(help="Policies, with commas.")] = PAPER_POLICIES,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds of each policy, from 0.")] = 3,
    setting: Setting = None,
    out: Annotated[Path, typer.Option(help="Folder of the runs; one that is there goes on.")] = Path("runs/compare"),
    workers: Workers = 0,
    ray: Ray = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Compare policies on the same harvest and the same data: a sweep over policies and seeds."""
    for key, instead in (("policy.name", "--policies"), ("seed", "--seeds")):
        if any(one.partition("=")[0].strip() == key for one in setting or ()):
            raise ConfigError(f"A comparison sets {key} for each run; use {instead}.")
    with words_aside(as_json):
        shared, grid = read_grid(config, setting or (), ())
        names = [name.strip() for name in policies.split(",")]
        grid = grid | {"policy.name": names, "seed": list(range(seeds))}
        runs = plan(shared, grid, out)
    _sweep(runs, out, workers, ray, dry_run=dry_run, as_json=as_json)


def carry_out(
    runs: list[PlannedRun], out: Path, workers: int, ray: str | None = None, *, show_table: bool = True
) -> Outcome:
    """Carries out what is left of the runs, shows how it goes, and writes their table."""
    check_directories(runs)
    left = [run for run in runs if not is_finished(run.directory)]
    if ray is None:  # a cluster's nodes have their own data
        check_inputs(left)
    begin = time.monotonic()
    processes = min(workers or available_processors(), max(len(left), 1))
    reports = pool.run_all(left, processes) if ray is None else ray_pool.run_all(left, out, ray, workers)
    try:
        with closing(reports):
            failures = _show(left, out, reports, total=len(runs))
    except KeyboardInterrupt:
        errors.print("Stopped; the same command goes on from the last checkpoints.")
        raise typer.Exit(130) from None
    outcome = Outcome(len(runs), finished_rows(runs), failures, out / TABLE)
    if outcome.rows:
        write_table(outcome.table, outcome.rows)
        if show_table:
            console.print(_table(outcome.rows, [key for key in runs[0].point if key != "seed"]))
    took = f" in {time.monotonic() - begin:.0f} s" if left else ""
    where = f"; their table is {outcome.table}" if outcome.rows else ""
    console.print(f"{len(outcome.rows)} of {_counted(len(runs))} finished{took}{where}", highlight=False, markup=False)
    for name, reason in failures.items():
        errors.print(f"Failed: {name}: {reason}", highlight=False, markup=False)
    return outcome


def show_forecast(runs: list[PlannedRun], workers: int, *, as_json: bool) -> None:
    """Says how many runs there are, and about how long what is left of them takes."""
    try:
        with words_aside(as_json), errors.status("Timing one run of each kind …"):
            check_directories(runs)
            expected = forecast(runs, workers)
    except KeyboardInterrupt:
        errors.print("Stopped.")
        raise typer.Exit(130) from None
    if as_json:
        print_json(asdict(expected))
        return
    words = (
        f"{_counted(expected.runs)}, {expected.finished} of them finished" if expected.finished else _counted(len(runs))
    )
    at_a_time = f"with {expected.at_once} at a time" if expected.at_once > 1 else "one at a time"
    console.print(f"{words}; about {_duration(expected.seconds)}, {at_a_time}.", highlight=False)


def _sweep(runs: list[PlannedRun], out: Path, workers: int, ray: str | None, *, dry_run: bool, as_json: bool) -> None:
    if dry_run:
        show_forecast(runs, workers, as_json=as_json)
        return
    with words_aside(as_json):
        outcome = carry_out(runs, out, workers, ray, show_table=not as_json)
    if as_json:
        print_json(asdict(outcome) | {"table": str(outcome.table) if outcome.rows else None})
    outcome.leave()


def _show(left: list[PlannedRun], out: Path, reports: Iterable[pool.Progress], *, total: int) -> dict[str, str]:
    """Shows each run that is under way, and the whole, while they are carried out; returns the failures."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("left"))
    failures: dict[str, str] = {}
    tasks: dict[str, TaskID] = {}
    epochs_of: dict[str, int] = {}
    finished = total - len(left)
    with Progress(*columns, TimeRemainingColumn(), console=errors, disable=not errors.is_terminal) as progress:
        epochs = sum(run.experiment.epochs for run in left)
        whole = progress.add_task(f"epochs of {_counted(len(left))}", total=epochs)
        for said in reports:
            name = str(said.run.directory.relative_to(out))
            if name not in tasks:
                tasks[name] = progress.add_task(name, total=said.run.experiment.epochs)
            progress.advance(whole, said.epochs - epochs_of.get(name, 0))
            progress.update(tasks[name], completed=said.epochs)
            epochs_of[name] = said.epochs
            if said.failure:
                failures[name] = said.failure
            if said.failure or said.finished:
                finished += 1
                progress.remove_task(tasks[name])
                progress.update(whole, description=f"epochs, {finished} of {_counted(total)} done")
    return failures


def _counted(runs: int) -> str:
    return "1 run" if runs == 1 else f"{runs} runs"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _table(rows: list[dict[str, Any]], keys: list[str]) -> Table:
    """Averages over seeds, one line for each other point of the grid.

    Args:
        rows: The finished runs.
        keys: The settings that the grid goes over, but for the seed.
    """
    if "policy.name" not in keys:
        keys = ["policy", *keys]
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(str(row[key]) for key in keys), []).append(row)
    columns = [("F1", "f1", 3), ("units", "energy_total", 0), ("trainings", "starts", 0)]
    columns += [("mean age", "mean_age_delivered", 2)]
    columns = [column for column in columns if any(row.get(column[1]) is not None for row in rows)]
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    for key in keys:
        table.add_column(key.removesuffix(".name"), no_wrap=True)
    for title in (*(title for title, _, _ in columns), "seeds"):
        table.add_column(title, justify="right", no_wrap=True)
    for point, alike in groups.items():
        known = [([row[key] for row in alike if row.get(key) is not None], digits) for _, key, digits in columns]
        cells = [mean_and_spread(values, digits) if values else "–" for values, digits in known]
        table.add_row(*map(escape, point), *cells, str(len(alike)))
    return table
