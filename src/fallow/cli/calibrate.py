"""``fallow calibrate``: what federated learning with a model costs on this machine."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from fallow.calibration.calibrate import calibrate as measure
from fallow.calibration.result import Calibration
from fallow.cli.screen import Json, console, errors, print_json, words_aside
from fallow.experiment.settings import override


def calibrate(
    model: Annotated[str, typer.Argument(help="A model's name, or my_module:factory.")],
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Set one option of the model, as in width=0.5; may be repeated."
        ),
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="A dataset's name; without it, random data.", show_default=False)
    ] = None,
    input_shape: Annotated[
        str | None, typer.Option(help="Shape of one random input, as in 3,32,32.", show_default=False)
    ] = None,
    classes: Annotated[int | None, typer.Option(help="Classes of random data; else 10.", show_default=False)] = None,
    samples: Annotated[int, typer.Option(help="|D_i|: samples of one training.")] = 300,
    steps: Annotated[int, typer.Option(help="κ: batches of one training.")] = 20,
    eval_samples: Annotated[
        int, typer.Option(help="Samples of one evaluation; 0 is the test set, or 1,000 of random data.")
    ] = 0,
    threads: Annotated[int, typer.Option(help="Threads; a training and a probe use one, as on a node.")] = 1,
    repeats: Annotated[int, typer.Option(help="How often each kind of work is timed; the median counts.")] = 20,
    budget: Annotated[
        float, typer.Option(help="Seconds after which a kind of work is not repeated any more, from the third time on.")
    ] = 30.0,
    watts: Annotated[
        float | None, typer.Option(help="Power at work, if you know it; then no meter is read.", show_default=False)
    ] = None,
    idle_watts: Annotated[
        float | None, typer.Option(help="Power without work, if you know it.", show_default=False)
    ] = None,
    meter: Annotated[
        str, typer.Option(help="rapl, ina3221, pmic, battery, none; auto is the first that answers.")
    ] = "auto",
    window: Annotated[
        float | None, typer.Option(help="Seconds that a meter is read for at a time.", show_default=False)
    ] = None,
    name: Annotated[
        str, typer.Option(help="Name of the device profile; without it, the machine's.", show_default=False)
    ] = "",
    out: Annotated[
        Path | None, typer.Option(help="Write a device profile, such as device.toml.", show_default=False)
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a profile that is there.")] = False,
    sysfs: Annotated[Path, typer.Option(help="Where Linux shows its devices.")] = Path("/sys"),
    vcgencmd: Annotated[str, typer.Option(help="The command that asks a Raspberry Pi.")] = "vcgencmd",
    as_json: Json = False,
) -> None:
    """Measure what federated learning costs on this machine: seconds, bytes, and joules where they can be had."""
    table: dict[str, Any] = {"name": model}
    for assignment in setting or ():
        override(table, assignment.strip().removeprefix("model."))  # a config says model.width
    with words_aside(as_json):
        result = measure(
            table,
            data=data,
            input_shape=input_shape,
            classes=classes,
            samples=samples,
            steps=steps,
            eval_samples=eval_samples,
            threads=threads,
            repeats=repeats,
            budget=budget,
            watts=watts,
            idle_watts=idle_watts,
            meter=meter,
            window=window,
            name=name,
            out=out,
            overwrite=overwrite,
            sysfs=sysfs,
            vcgencmd=vcgencmd,
        )
    if as_json:
        print_json(result.document() | {"profile": None if out is None else str(out)})
        return
    console.print(as_table(result), highlight=False)
    for note in result.notes:
        errors.print(f"Note: {note}", highlight=False, markup=False)
    if out is not None:
        console.print(f"The device profile is in {out}.", highlight=False, markup=False)


def as_table(result: Calibration) -> Table:
    """Returns the figures as a table: what, the figure, the middle half of its measurements, its origin.

    Args:
        result: What was measured.
    """
    table = Table(
        "what",
        "figure",
        "middle half",
        "origin",
        title=f"{result.model} on {result.machine}, threads: {result.threads}",
        title_justify="left",
        box=None,
        pad_edge=False,
    )
    table.columns[1].justify = "right"
    for row in result.rows():
        table.add_row(*row)
    return table
