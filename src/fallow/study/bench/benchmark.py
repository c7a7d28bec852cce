"""``fallow.bench``: entrants in frozen scenarios, against the built-ins' results that come with Fallow."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fallow.errors import FallowError
from fallow.runs.layout import as_folder
from fallow.study.bench.entrants import Entrant, make_entrants
from fallow.study.bench.reference import Reference, read_reference, say_origins
from fallow.study.bench.result import Bench
from fallow.study.bench.scenarios import Suite, read_suite
from fallow.study.bench.scores import read_scores
from fallow.sweeps.execute import SweepResult, execute
from fallow.sweeps.grid import PlannedRun
from fallow.sweeps.progress import Observer, OnScreen, count_runs

OUT = "runs/bench"


@dataclass(frozen=True)
class BenchPlan:
    """The runs of a benchmark.

    Attributes:
        suite: What is run.
        entrants: Who is run.
        runs: All runs.
        tables: The folder of the built-ins' results.
        out: The folder of the runs.
        references: The built-ins' results, a part for each scenario; none where they are made.
    """

    suite: Suite
    entrants: tuple[Entrant, ...]
    runs: tuple[PlannedRun, ...]
    tables: Path
    out: Path
    references: tuple[Reference, ...] = ()


def bench(
    *policies: Any,
    suite: str | Path = "quick",
    out: str | Path = OUT,
    tables: str | Path | None = None,
    scenarios: Sequence[str] | None = None,
    workers: int = 0,
    progress: bool = True,
    **method: Any,
) -> Bench:
    r"""Runs entrants in the scenarios of a suite and returns how they compare with the built-ins, which are not run.

    What is finished in `out` is kept, unless the code of the entrant has changed since.

    Args:
        *policies: Objects, classes or names. The k and μ of a scenario are those of a policy by class or name; an
            object has its own.
        suite: "quick", "full", or a folder of your own.
        out: The folder of the runs.
        tables: The folder of the built-ins' results; None for the suite's own.
        scenarios: Names of some scenarios; None for all.
        workers: Runs at a time; 0 is one for each processor.
        progress: Whether to show bars on a terminal or in a notebook.
        **method: What else they set: ``aggregation=MyRule()``, ``objective="balanced-softmax"``,
            ``learning__average=0.95``. Without a policy it is run under the paper's.

    Raises:
        FallowError: If something is wrong before the first run begins, or every run fails. If some fail, a warning
            says so, and the result's `failures` say why.

    Examples:
        >>> from tempfile import mkdtemp
        >>> suite, runs = Path(mkdtemp()), mkdtemp()
        >>> _ = (suite / "suite.toml").write_text("seeds = 1\nexperiment = {clients = 4, epochs = 2}")
        >>> _ = (suite / "tiny.toml").write_text("version = 1\n[experiment]\nlearning = {mode = 'train'}")
        >>> result = bench({"name": "vaoi", "k": 2}, "fedavg", suite=suite, out=runs, progress=False)
        >>> result.entrants, result.scenarios
        (('vaoi(k=2)', 'fedavg'), ['tiny'])
    """
    settings = {key.replace("__", "."): value for key, value in method.items()}
    planned = plan_bench(policies, settings, suite, out, tables, scenarios)
    sweep, result = run_bench(planned, workers, OnScreen(show=progress))
    if sweep.failures:
        name, reason = next(iter(sweep.failures.items()))
        failed = f"{len(sweep.failures)} of {count_runs(sweep.runs)} failed; the first, {name}: {reason}"
        if not sweep.rows:
            raise FallowError(failed)
        warnings.warn(f"{failed} The result's failures say why the others did.", stacklevel=2)
    return result


def plan_bench(
    policies: Sequence[Any],
    method: Mapping[str, Any],
    suite: str | Path = "quick",
    out: str | Path = OUT,
    tables: str | Path | None = None,
    scenarios: Sequence[str] | None = None,
) -> BenchPlan:
    """Returns the runs of entrants, each checked, and the built-ins' results that they are compared with.

    Args:
        policies: Objects, classes or names.
        method: What else they set, by section or setting, as in ``{"aggregation": "shrinkage"}``.
        suite: A name, or a folder.
        out: The folder of the runs.
        tables: The folder of the built-ins' results; None for the suite's own.
        scenarios: Names of some scenarios; None for all.

    Raises:
        ConfigError: There is no such suite, scenario, entrant or rule, or one can't be run.
        PolicyError: A policy does not keep its contract.
    """
    known = read_suite(suite, scenarios)
    folder = known.folder if tables is None else as_folder(tables, "tables")
    entrants = make_entrants(policies, method, known)
    references = tuple(read_reference(scenario, folder) for scenario in known.scenarios)
    place = as_folder(out, "out") / known.name
    return BenchPlan(known, tuple(entrants), plan_runs(known, entrants, place), folder, place, references)


def plan_runs(suite: Suite, entrants: Sequence[Entrant], folder: Path) -> tuple[PlannedRun, ...]:
    """Returns a run for each scenario, entrant and seed.

    Args:
        suite: What is run.
        entrants: Who is run.
        folder: Of the runs.
    """
    return tuple(run for one in suite.scenarios for who in entrants for run in who.plan(one, suite.seeds, folder))


def run_bench(planned: BenchPlan, workers: int = 0, observer: Observer | None = None) -> tuple[SweepResult, Bench]:
    """Carries out what is left of the entrants' runs, and returns what came of the runs and of the benchmark.

    Args:
        planned: As `plan_bench` returns it.
        workers: Runs at a time; 0 is one for each processor.
        observer: Hears how it goes.
    """
    sweep = execute(planned.runs, planned.out, workers=workers, observer=observer)
    names = tuple(entrant.name for entrant in planned.entrants)
    first = planned.suite.scenarios[0]
    entered = [entrant.name for entrant in planned.entrants if entrant.is_ranked(first)]
    known = [score for part in planned.references for score in part.scores if score.entrant not in names]
    competing = [name for part in planned.references for name in part.ranked if name not in names]
    notes = [note for part in planned.references for note in part.notes]
    if notes:
        noted = [one.name for one, part in zip(planned.suite.scenarios, planned.references, strict=True) if part.notes]
        some = "" if len(noted) == len(planned.references) else "".join(f" --scenario {name}" for name in noted)
        notes.append(f"`fallow bench --reference --suite {planned.suite.given}{some}` makes these results.")
    result = Bench(
        suite=planned.suite,
        entrants=names,
        scores=(*read_scores(planned.runs), *known),
        ranked=tuple(dict.fromkeys([*entered, *competing])),
        directory=planned.out,
        notes=tuple(notes),
        origins=say_origins(planned.references),
        failures=sweep.failures,
    )
    return sweep, result
