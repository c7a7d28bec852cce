"""``fallow sweep`` and ``fallow compare``: many runs at once, and their table."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer
from rich.box import SIMPLE
from rich.markup import escape
from rich.table import Table

from fallow.cli.screen import Json, console, errors, print_json, share_columns, words_aside
from fallow.errors import ConfigError
from fallow.runs.progress import tell
from fallow.study.grid import POLICIES, check_unset
from fallow.study.overview import explain_ages
from fallow.study.reached import check_reachable, list_reached
from fallow.study.study import Study
from fallow.study.sweep import study_runs
from fallow.sweeps.execute import SweepResult
from fallow.sweeps.forecast import forecast
from fallow.sweeps.grid import PlannedRun, plan, read_grid
from fallow.sweeps.progress import OnScreen, count_runs
from fallow.sweeps.shards import Shard

MOST_SEEDS = 10_000
"""Most seeds of a study; each is a run for each of its other points."""

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
Part = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="I/N",
        help="Carry out the I-th of N parts; the others may be carried out at the same time in the same folder.",
        show_default=False,
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say how many runs, and about how long, and stop.")]
Target = Annotated[
    float | None,
    typer.Option(
        metavar="F1", help="Say what it took to reach an F1 score, and how many runs did.", show_default=False
    ),
]
Latex = Annotated[bool, typer.Option("--latex", help="Print the table as LaTeX.")]


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
    shard: Part = None,
    target: Target = None,
    dry_run: DryRun = False,
    latex: Latex = False,
    as_json: Json = False,
) -> None:
    """Run a grid of experiments; what is finished is kept, what was killed goes on."""
    with words_aside(as_json or latex):
        shared, grid = read_grid(config, setting or (), axis or ())
        runs = plan(shared, grid, out)
    _carry_out(runs, out, workers, ray, shard, target, dry_run=dry_run, latex=latex, as_json=as_json)


def compare(
    config: Config = None,
    policies: Annotated[str, typer.Option(help="Policies, with commas.")] = ",".join(POLICIES),
    seeds: Annotated[int, typer.Option(min=1, max=MOST_SEEDS, help="Seeds of each policy, from 0.")] = 3,
    setting: Setting = None,
    out: Annotated[Path, typer.Option(help="Folder of the runs; one that is there goes on.")] = Path("runs/compare"),
    workers: Workers = 0,
    ray: Ray = None,
    shard: Part = None,
    target: Target = None,
    dry_run: DryRun = False,
    latex: Latex = False,
    as_json: Json = False,
) -> None:
    """Compare policies on the same harvest and the same data: a sweep over policies and seeds."""
    with words_aside(as_json or latex):
        check_unset(read_grid(None, setting or (), ())[0], {"policy.name": "use --policies", "seed": "use --seeds"})
        shared, grid = read_grid(config, setting or (), ())
        names = [name.strip() for name in policies.split(",")]
        runs = plan(shared, grid | {"policy.name": names, "seed": list(range(seeds))}, out)
    _carry_out(runs, out, workers, ray, shard, target, dry_run=dry_run, latex=latex, as_json=as_json)


def show_forecast(runs: list[PlannedRun], workers: int, *, as_json: bool) -> None:
    """Prints how many runs there are, and about how long what is left of them takes.

    Args:
        runs: Of the sweep.
        workers: Runs at a time; 0: one for each processor.
        as_json: Whether to print JSON.

    Raises:
        typer.Exit: Ctrl-C was pressed.
    """
    try:
        with words_aside(as_json):
            expected = forecast(runs, workers, tell)
    except KeyboardInterrupt:
        errors.print("Stopped.")
        raise typer.Exit(130) from None
    if as_json:
        print_json(asdict(expected))
        return
    runs_in_words = count_runs(expected.runs)
    words = f"{runs_in_words}, {expected.finished} of them finished" if expected.finished else runs_in_words
    at_a_time = f"with {expected.at_once} at a time" if expected.at_once > 1 else "one at a time"
    console.print(f"{words}; about {_duration(expected.seconds)}, {at_a_time}.", highlight=False)


def say_finished(result: SweepResult) -> None:
    """Prints how many runs are finished, where their table is, and which failed.

    Args:
        result: Of the sweep.
    """
    took = f" in {result.seconds:.0f} s" if result.seconds is not None else ""
    where = f"; their table is {result.table}" if result.rows else ""
    others = f", of which {result.share} are this shard's" if result.share < result.runs else ""
    finished = f"{len(result.rows)} of {count_runs(result.runs)} finished"
    console.print(f"{finished}{others}{took}{where}", highlight=False, markup=False)
    for name, reason in result.failures.items():
        errors.print(f"Failed: {name}: {reason}", highlight=False, markup=False)


def exit_after(result: SweepResult) -> None:
    """Ends the program with an error if a run failed.

    Args:
        result: Of the sweep.

    Raises:
        typer.Exit: A run failed.
    """
    if result.failures:
        raise typer.Exit(1)


@contextmanager
def stopping() -> Iterator[None]:
    """Answers Ctrl-C and SIGTERM with a sentence and the exit code of a program that was stopped.

    Raises:
        typer.Exit: The program was told to stop.
    """
    told = signal.SIGINT

    def stop(number: int, _frame: FrameType | None) -> None:
        nonlocal told
        told = signal.Signals(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        errors.print("Stopped; the same command goes on from the last checkpoints.")
        raise typer.Exit(128 + told) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def _carry_out(
    runs: list[PlannedRun],
    out: Path,
    workers: int,
    ray: str | None,
    shard: str | None,
    target: float | None,
    *,
    dry_run: bool,
    latex: bool,
    as_json: bool,
) -> None:
    if latex and as_json:
        raise ConfigError("--latex and --json both say what to print; choose one of the two.")
    part = Shard.parse(shard) if shard is not None else None
    if target is not None:
        check_reachable(target, runs)
    if dry_run:
        show_forecast(part.share(runs) if part else runs, workers, as_json=as_json)
        return
    with words_aside(as_json or latex), stopping():
        result, study = study_runs(runs, out, workers=workers, ray=ray, shard=part, observer=OnScreen())
        if result.rows and not (as_json or latex):
            for table in _tables(study, target):
                console.print(table)
            if not_comparable := explain_ages(study.members):
                console.print(not_comparable, highlight=False, markup=False)
        say_finished(result)
    if latex and result.rows:
        typer.echo(study.to_latex(target=target))
    if as_json:
        print_json(_as_document(result) | (list_reached(study.members, target) if target is not None else {}))
    exit_after(result)


def _as_document(result: SweepResult) -> dict[str, Any]:
    table = str(result.table) if result.rows else None
    return {"runs": result.runs, "rows": result.rows, "failures": result.failures, "table": table}


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _tables(study: Study, target: float | None) -> Iterator[Table]:
    """Yields means and deviations over seeds, one line for each other point; as many tables as the screen is narrow."""
    headings, rows = study.cells(target=target)
    words = len(study.axes)
    for columns in share_columns([headings, *rows], words, console.width):
        table = Table(box=SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
        for place in columns:
            table.add_column(headings[place], justify="left" if place < words else "right", no_wrap=True)
        for row in rows:
            table.add_row(*(escape(row[place]) for place in columns))
        yield table
