"""``fallow.calibrate``: what federated learning with a model costs on this machine."""

from pathlib import Path
from typing import Any

from fallow.calibration.figures import Costs, Figure
from fallow.calibration.machine import describe_machine, short_name
from fallow.calibration.meters import AUTO, METERS, NONE, Meter, find_meter
from fallow.calibration.options import Options, check_options
from fallow.calibration.profile import check_out
from fallow.calibration.result import Calibration
from fallow.calibration.timing import Joules, compute_joules, measure_idle, measure_joules, time_calls
from fallow.calibration.work import Work, prepare_work
from fallow.runs.progress import Bar, show_progress

BYTES_PER_NUMBER = 4
"""An update is float32."""

HIDDEN = 0.01
"""The share of the energy in all below which a meter can't tell work from rest."""


def calibrate(
    model: Any,
    *,
    data: Any = None,
    input_shape: tuple[int, ...] | str | None = None,
    classes: int | None = None,
    samples: int = 300,
    steps: int = 20,
    eval_samples: int = 0,
    threads: int = 1,
    repeats: int = 20,
    budget: float = 30.0,
    watts: float | None = None,
    idle_watts: float | None = None,
    meter: str = AUTO,
    window: float | None = None,
    name: str = "",
    out: Path | str | None = None,
    overwrite: bool = False,
    sysfs: Path | str = "/sys",
    vcgencmd: str = "vcgencmd",
    progress: bool = True,
) -> Calibration:
    """Returns the seconds, bytes and joules of a node's work with a model, measured on this machine.

    What is timed is what a node does: the same training, probe and evaluation. Joules come from `watts`, or else from a
    meter that can be read; with neither there are none.

    Args:
        model: A name, ``module:factory``, a table of a name and options, a class or an object.
        data: A dataset, named in the same ways; None is random data.
        input_shape: The shape of one random input, as in (3, 32, 32); None is the usual one of the model.
        classes: Of random data; None is 10.
        samples: |D_i|, the samples of one training.
        steps: κ, the most batches of one training; a batch has ⌈|D_i|/κ⌉ samples.
        eval_samples: The samples of one evaluation; 0 is the test set, or 1,000 of random data.
        threads: The threads that compute. A training and a probe are one thread's work, as on a node.
        repeats: How often each kind of work is timed; the median counts.
        budget: Seconds after which one kind of work is not repeated any more, from the third time on.
        watts: The power of the machine at work, if the user knows it; then no meter is read.
        idle_watts: The power of the machine without work, if the user knows it.
        meter: "rapl", "ina3221", "pmic", "battery", "none", or "auto" for the first that answers.
        window: The seconds of work that a meter is read for at a time; None leaves it to the meter.
        name: Of the device profile; without it, the machine's.
        out: Where to write the device profile, a TOML file; None writes none.
        overwrite: Whether a profile that is there may be replaced.
        sysfs: Where Linux shows its devices.
        vcgencmd: The command that asks a Raspberry Pi.
        progress: Whether to show how far it is.

    Raises:
        ConfigError: An option is wrong, or the model, the data and the options do not fit each other.
        DataError: The data is missing or damaged.
        MeterError: A meter stops answering.

    Examples:
        >>> found = calibrate("small-cnn", watts=3.2, repeats=3, progress=False)
        >>> found.update_bytes
        14,632 bytes (computed: 4 bytes × 3,658 parameters)
        >>> found.joules.training.kind
        'computed'
    """
    options = check_options(
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
    )
    if out is not None:
        check_out(out, overwrite=overwrite)
    found, notes = (None, []) if options.watts else find_meter(options.meter, Path(sysfs), vcgencmd)
    work = prepare_work(model, data, options)
    try:
        with show_progress(len(work.calls), "calibrating", show=progress) as bar:
            result = _measure(work, options, found, notes, describe_machine(Path(sysfs)), bar)
    finally:
        work.workers.close()
    if out is not None:
        result.save(out, overwrite=overwrite)
    return result


def _measure(
    work: Work, options: Options, meter: Meter | None, notes: list[str], machine: str, bar: Bar
) -> Calibration:
    window = options.window or (meter.window if meter else 0.0)
    idle = _idle(options, meter, window)
    seconds: dict[str, Figure] = {}
    joules: dict[str, Joules] = {}
    for kind, call in work.calls.items():
        bar.describe(kind)
        seconds[kind] = took = time_calls(call, options.repeats, options.budget)
        if options.watts:
            joules[kind] = compute_joules(took, options.watts, options.idle_watts)
        elif meter and idle:
            joules[kind] = measure_joules(meter, call, idle, window)
        bar.advance()
    return Calibration(
        name=options.name or short_name(machine),
        machine=machine,
        model=work.model,
        input_shape=work.train_set.input_shape,
        samples=len(work.train_set),
        steps=options.steps,
        batch=work.batch,
        eval_samples=len(work.test_set),
        threads=options.threads,
        parameters=work.network.trained,
        statistics=work.network.size - work.network.trained,
        update_bytes=_update_bytes(work),
        seconds=Costs(**seconds),
        joules=Costs(**{kind: one.above_idle for kind, one in joules.items()}) if joules else None,
        joules_in_all=Costs(**{kind: one.in_all for kind, one in joules.items()}) if joules else None,
        idle_watts=idle,
        notes=(*notes, *_remarks(joules, options.meter)),
    )


def _idle(options: Options, meter: Meter | None, window: float) -> Figure | None:
    if options.idle_watts is not None:
        return Figure(options.idle_watts, "W", "stated")
    return measure_idle(meter, window) if meter else None


def _update_bytes(work: Work) -> Figure:
    trained, size = work.network.trained, work.network.size
    numbers = f"{trained:,} parameters"
    if size > trained:
        numbers = f"({numbers} + {size - trained:,} running statistics)"
    return Figure(BYTES_PER_NUMBER * size, "bytes", "computed", f"{BYTES_PER_NUMBER} bytes × {numbers}")


def _remarks(joules: dict[str, Joules], meter: str) -> list[str]:
    """Returns what must be said of joules that are missing, or hidden in the idle power."""
    if not joules:
        why = (
            "no meter was wanted" if meter == NONE else f"this machine has no meter that answers ({', '.join(METERS)})"
        )
        return [f"There are no joules: {why}, and no watts (--watts) are stated."]
    hidden = [
        kind
        for kind, one in joules.items()
        if one.in_all.kind == "measured" and one.above_idle.value < HIDDEN * one.in_all.value
    ]
    if not hidden:
        return []
    return [
        f"The meter saw no more power at work than without ({', '.join(hidden)}), so its joules above idle may be "
        "too few; use a meter that is finer, or state watts (--watts)."
    ]
