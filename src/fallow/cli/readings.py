"""``fallow paper --readings``: the readings of the paper that touch energy."""

from pathlib import Path
from typing import Any

from fallow.cli.screen import console, print_json, words_aside
from fallow.cli.sweep import exit_after, say_finished, show_forecast, stopping
from fallow.study.grid import HARVESTS
from fallow.study.readings.agreement import STATEMENTS, Statement
from fallow.study.readings.plan import plan_readings
from fallow.study.readings.run import Readings, run_readings
from fallow.sweeps.progress import OnScreen


def carry_out_readings(
    seeds: int, settings: dict[str, Any], out: Path, workers: int, *, dry_run: bool, as_json: bool
) -> None:
    """Runs the readings, and prints what agrees with the paper.

    Args:
        seeds: How many, from 0.
        settings: What to change in all runs, by section.
        out: The folder of the study.
        workers: Runs at a time; 0 is one for each processor.
        dry_run: Whether to say only how long it takes.
        as_json: Whether to print JSON.
    """
    runs = plan_readings(seeds, out, settings)
    if dry_run:
        show_forecast(runs, workers, as_json=as_json)
        return
    with words_aside(as_json), stopping():
        sweep, found = run_readings(runs, out, workers, OnScreen())
        say_finished(sweep)
    if found is not None:
        print_readings(found, as_json=as_json)
    exit_after(sweep)


def print_readings(found: Readings, *, as_json: bool) -> None:
    """Prints how many combinations of readings agree with the paper.

    Args:
        found: What came of the readings.
        as_json: Whether to print JSON.
    """
    total = len(found.combinations)
    agreeing = {
        statement.text: {
            **{f"{p:g}": sum(map(bool, own)) for p in HARVESTS if None not in (own := _held(statement, found, p))},
            "all": sum(map(statement.overall, found.combinations)),
        }
        for statement in STATEMENTS
    }
    if as_json:
        print_json({"page": str(found.page), "combinations": total, "agree": agreeing})
        return
    console.print(f"How many of {total} combinations of readings agree with the paper:", highlight=False)
    for text, counts in agreeing.items():
        at = ", ".join(f"{count} at p_bc = {p}" for p, count in counts.items() if p != "all")
        console.print(f"  {counts['all']:4}  {text}{f' ({at})' if at else ''}", highlight=False, markup=False)
    console.print(f"The tables and the picture are in {found.page}", highlight=False, markup=False)


def _held(statement: Statement, found: Readings, p: float) -> list[bool | None]:
    return [statement.at(one, p) for one in found.combinations]
