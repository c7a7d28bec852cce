"""``fallow bench``: entrants in frozen scenarios, against the built-ins' results that come with Fallow."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE
from rich.markup import escape
from rich.table import Table

from fallow.cli.screen import Json, console, errors, print_json, share_columns, words_aside
from fallow.cli.sweep import DryRun, Workers, exit_after, say_finished, show_forecast, stopping
from fallow.errors import ConfigError
from fallow.experiment.settings import override
from fallow.plugins.nested import flatten
from fallow.study.bench.benchmark import OUT, BenchPlan, plan_bench, run_bench
from fallow.study.bench.renewal import make_references, plan_references
from fallow.study.bench.result import Bench
from fallow.study.bench.tables import Cells
from fallow.sweeps.progress import OnScreen


def bench(
    entrants: Annotated[
        list[str] | None,
        typer.Argument(help="Policies: names, or my_module:MyPolicy; one or several.", show_default=False),
    ] = None,
    aggregation: Annotated[
        str | None,
        typer.Option(help="The rule under which they are run: a name, or my_module:MyRule.", show_default=False),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="What else the entrants set, as in learning.average=0.95; may be repeated.",
        ),
    ] = None,
    suite: Annotated[str, typer.Option(help="quick: minutes; full: CIFAR-10; or a folder of your own.")] = "quick",
    scenario: Annotated[
        list[str] | None,
        typer.Option(help="Only this scenario of the suite; may be repeated.", metavar="NAME", show_default=False),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of the runs; what is finished there is kept.")] = Path(OUT),
    tables: Annotated[
        Path | None,
        typer.Option(help="Folder of the built-ins' results, if it is not the suite's own.", show_default=False),
    ] = None,
    workers: Workers = 0,
    dry_run: DryRun = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print the tables as LaTeX.")] = False,
    as_json: Json = False,
    reference: Annotated[
        bool, typer.Option("--reference", help="Run the built-ins instead, and write the tables of their results.")
    ] = False,
    policies: Annotated[
        str | None, typer.Option(help="With --reference: only these, with commas.", show_default=False)
    ] = None,
    rules: Annotated[
        str | None, typer.Option(help="With --reference: only these rules, with commas.", show_default=False)
    ] = None,
) -> None:
    """Run a policy or a rule in frozen scenarios, and compare it with every built-in one."""
    if latex and as_json:
        raise ConfigError("--latex and --json both say what to print; choose one of the two.")
    if reference and (entrants or aggregation or setting):
        raise ConfigError("--reference runs the built-ins; name some with --policies or --rules, and enter no others.")
    if not reference and (policies or rules):
        raise ConfigError("--policies and --rules choose built-ins to run with --reference; it is not given.")
    with words_aside(as_json or latex):
        planned = (
            plan_references(suite, out, tables, _names(policies), _names(rules), scenario or None)
            if reference
            else plan_bench(entrants or [], _method(aggregation, setting or []), suite, out, tables, scenario or None)
        )
    if dry_run:
        show_forecast(list(planned.runs), workers, as_json=as_json)
    elif reference:
        _make_references(planned, workers, as_json=as_json)
    else:
        _enter(planned, workers, latex=latex, as_json=as_json)


def _enter(planned: BenchPlan, workers: int, *, latex: bool, as_json: bool) -> None:
    with words_aside(as_json or latex), stopping():
        sweep, result = run_bench(planned, workers, OnScreen())
        page = result.report() if sweep.rows else None
        if sweep.rows and not (as_json or latex):
            _show(result)
        for note in result.notes:
            errors.print(f"Note: {note}", highlight=False, markup=False)
        say_finished(sweep)
        if page is not None:
            console.print(f"F1 against energy, ranks and differences are in {page}", highlight=False, markup=False)
    if latex and sweep.rows:
        typer.echo(f"{result.to_latex()}\n\n{result.to_latex('differences')}")
    if as_json:
        print_json(_as_document(result, page))
    exit_after(sweep)


def _make_references(planned: BenchPlan, workers: int, *, as_json: bool) -> None:
    with words_aside(as_json), stopping():
        sweep, written = make_references(planned, workers, OnScreen())
        say_finished(sweep)
        for path in written:
            console.print(f"Written: {path}", highlight=False, markup=False)
    if as_json:
        print_json({"tables": [str(path) for path in written], "failures": sweep.failures})
    exit_after(sweep)


def _show(result: Bench) -> None:
    _print("F1, mean ± deviation over seeds; * was entered", result.cells())
    _print("Energy, units", result.cells("energy"))
    for name in result.entrants:
        cells = result.difference_cells(name)
        if cells[1]:
            _print("F1, paired differences with 95 % intervals", cells)


def _print(title: str, cells: Cells) -> None:
    """Prints cells as one table, or as several if the screen is too narrow for one."""
    headings, rows = cells
    for places in share_columns([headings, *rows], words=1, width=console.width):
        table = Table(title=title, title_justify="left", box=SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
        for place in places:
            table.add_column(escape(headings[place]), justify="right" if place else "left", no_wrap=True)
        for row in rows:
            table.add_row(*(escape(row[place]) for place in places))
        console.print(table)


def _as_document(result: Bench, page: Path | None) -> dict[str, Any]:
    return {
        "suite": result.suite.name,
        "entrants": list(result.entrants),
        "scores": [vars(score) for score in result.scores],
        "ranks": [vars(rank) for rank in result.ranks()],
        "differences": [
            {"scenario": one.scenario, "entrant": one.entrant, "other": one.other, **_ends(one.interval)}
            for name in result.entrants
            for one in result.find_differences(name)
        ],
        "notes": list(result.notes),
        "failures": dict(result.failures),
        "page": None if page is None else str(page),
    }


def _ends(interval: Any) -> dict[str, float | int | None]:
    known = interval.count > 1
    return {
        "difference": interval.mean,
        "low": interval.low if known else None,
        "high": interval.high if known else None,
        "seeds": interval.count,
    }


def _method(aggregation: str | None, assignments: list[str]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for assignment in assignments:
        override(settings, assignment)
    return ({} if aggregation is None else {"aggregation": aggregation}) | flatten(settings)


def _names(given: str | None) -> list[str] | None:
    return None if given is None else [name.strip() for name in given.split(",") if name.strip()]
