"""``fallow run`` and ``fallow resume``: one experiment into one run directory."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fallow.cli.screen import Json, console, errors, print_json, with_progress, words_aside
from fallow.cli.show import as_table
from fallow.experiment import Experiment
from fallow.runs.execute import begin_or_resume
from fallow.runs.layout import check_free
from fallow.runs.reader import read_summary
from fallow.runs.writer import OpenRun, RunWriter
from fallow.simulation.engine import Engine


def run(
    config: Annotated[
        Path | None, typer.Argument(help="Experiment in TOML; without it, the paper's numbers.", show_default=False)
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change one setting, as in energy.p=0.01; may be repeated."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Run directory; without it, the next free one under runs/.", show_default=False)
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a run that is there.")] = False,
    as_json: Json = False,
) -> None:
    """Run one experiment and write its run directory."""
    with words_aside(as_json):
        experiment = Experiment.read(config, setting or ())
        directory = out or _next_free(experiment)
        check_free(directory, overwrite=overwrite)
        engine = Engine(experiment)
        _warn(engine)
        with RunWriter(engine, directory, overwrite=overwrite) as open_run:
            summary = _write(open_run)
    _show(directory, summary, as_json=as_json)


def resume(
    directory: Annotated[Path, typer.Argument(help="Run directory of a run that was stopped.")],
    workers: Annotated[
        int | None, typer.Option(min=0, help="Threads, in place of compute.workers; changes no result.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Go on with a run from its last checkpoint."""
    with words_aside(as_json), begin_or_resume(None, directory, workers=workers) as open_run:
        if open_run is None:
            console.print(f"The run in {directory} is finished already.", highlight=False, markup=False)
        summary = _write(open_run) if open_run else None
    if summary or as_json:
        found = summary or read_summary(directory)
        _show(directory, found, as_json=as_json)


def _warn(engine: Engine) -> None:
    compute = engine.experiment.compute
    if engine.learner and compute.precision == "bf16":
        from fallow.learning.network import emulates_bf16  # PyTorch is loaded by now

        if emulates_bf16(compute.device):
            errors.print("Note: this processor has no bfloat16 arithmetic; fp32 will be many times faster.")


def _write(open_run: OpenRun) -> dict[str, Any]:
    engine = open_run.engine
    epochs = with_progress(engine, engine.experiment.epochs, engine.experiment.policy.name, done=engine.epoch)
    try:
        return open_run.write(epochs) or {}
    except KeyboardInterrupt:
        errors.print(f"Stopped; `fallow resume {open_run.directory}` goes on.", highlight=False, markup=False)
        raise typer.Exit(130) from None


def _show(directory: Path, summary: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json({"directory": str(directory), **summary})
        return
    console.print(as_table(summary))
    console.print(f"Written to {directory}", highlight=False, markup=False)


def _next_free(experiment: Experiment) -> Path:
    name = experiment.policy.name.replace(":", ".")
    number = 1
    while (path := Path("runs") / f"{name}-{number}").exists():
        number += 1
    return path
