"""The built-ins' results made anew: every policy, and every rule, in every scenario of a suite."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fallow.runs.layout import as_folder
from fallow.study.bench.benchmark import OUT, BenchPlan, plan_runs
from fallow.study.bench.entrants import Entrant, built_ins
from fallow.study.bench.reference import write_reference
from fallow.study.bench.scenarios import Suite, read_suite
from fallow.study.bench.scores import read_scores
from fallow.sweeps.execute import SweepResult, execute
from fallow.sweeps.progress import Observer


def plan_references(
    suite: str | Path = "quick",
    out: str | Path = OUT,
    tables: str | Path | None = None,
    policies: Sequence[str] | None = None,
    rules: Sequence[str] | None = None,
    scenarios: Sequence[str] | None = None,
) -> BenchPlan:
    """Returns the runs of the built-ins, whose results come with the project.

    Args:
        suite: A name, or a folder.
        out: The folder of the runs.
        tables: The folder that the results are written to; None for the suite's own.
        policies: Names of some built-in policies; None for all, or for none if rules are named.
        rules: Names of some built-in rules; None for all, or for none if policies are named.
        scenarios: Names of some scenarios; None for all.

    Raises:
        ConfigError: There is no such suite or name.
    """
    known = read_suite(suite, scenarios)
    folder = known.folder if tables is None else as_folder(tables, "tables")
    place = as_folder(out, "out") / known.name
    entrants = [entrant for entrant in built_ins(policies, rules) if not _repeats(entrant, known)]
    return BenchPlan(known, tuple(entrants), plan_runs(known, entrants, place), folder, place)


def make_references(
    planned: BenchPlan, workers: int = 0, observer: Observer | None = None
) -> tuple[SweepResult, list[Path]]:
    """Carries out what is left of the built-ins' runs, and writes the tables of those whose runs are all finished.

    Args:
        planned: As `plan_references` returns it.
        workers: Runs at a time; 0 is one for each processor.
        observer: Hears how it goes.

    Returns:
        What came of the runs, and the tables.
    """
    sweep = execute(planned.runs, planned.out, workers=workers, observer=observer)
    scores = read_scores(planned.runs)
    written = []
    for scenario in planned.suite.scenarios:
        rows = [score for score in scores if score.scenario == scenario.name]
        finished = Counter(score.entrant for score in rows)
        entrants = [entrant for entrant in planned.entrants if finished[entrant.name] == planned.suite.seeds]
        names = {entrant.name for entrant in entrants}
        if entrants:
            own = [score for score in rows if score.entrant in names]
            written.append(write_reference(scenario, entrants, own, planned.tables))
    return sweep, written


def _repeats(entrant: Entrant, suite: Suite) -> bool:
    """Returns whether a rule is the scenarios' own, so that the policy alone is the same."""
    alone = replace(entrant, method={})
    return bool(entrant.method) and all(entrant.experiment(one) == alone.experiment(one) for one in suite.scenarios)
