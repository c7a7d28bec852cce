import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from fallow.energy import Scale, Signal, prepare_harvest
from fallow.errors import ConfigError, EnergyError
from fallow.experiment import Experiment

MINUTE = Scale(slot_seconds=60, unit_joules=1.0)


class Ramp:
    """A watt more each minute, from the elapsed time, as Vessim 0.16 asks its signals."""

    def at(self, elapsed: timedelta) -> float:
        return elapsed // timedelta(minutes=1)


class Daylight:
    """Two watts from 6 to 18 by the clock of the zone, asked with a datetime, as Vessim was before."""

    def at(self, time: datetime) -> float:
        return 2.0 if 6 <= time.hour < 18 else 0.0


class Negative:
    def at(self, elapsed: timedelta) -> float:
        return 1.0 - elapsed.total_seconds()


class Short:
    def at(self, elapsed: timedelta) -> float:
        if elapsed >= timedelta(minutes=3):
            raise ValueError("the trace has ended")
        return 1.0


ramp = Ramp()
number = 3.0


def make_ramp() -> Ramp:
    return ramp


def broken() -> Ramp:
    raise OSError("no such sensor")


def units(model: Signal, epochs, clients: int = 1, slots: int = 5, scale: Scale = MINUTE, **more) -> list:
    harvest = prepare_harvest(model, seed=0, clients=clients, slots_per_epoch=slots, scale=scale, **more)
    found = np.concatenate([np.array(list(harvest(epoch))) for epoch in epochs])
    return (found[:, 0] if clients == 1 else found).tolist()


@pytest.mark.parametrize("of", [f"{__name__}:ramp", f"{__name__}:make_ramp", f"{__name__}:Ramp", make_ramp, Ramp])
def test_an_object_a_function_and_a_class_are_asked_for_each_slot(of):
    assert units(Signal(of=of), [0]) == [0, 60, 120, 180, 240]


def test_within_a_slot_it_is_asked_every_step():
    assert units(Signal(of=Ramp), [0], slots=2, scale=Scale(180, 1.0)) == [60 * (0 + 1 + 2), 60 * (3 + 4 + 5)]
    assert units(Signal(of=Ramp, step=180.0), [0], slots=2, scale=Scale(180, 1.0)) == [0, 540]


def test_start_as_a_number_is_elapsed_seconds():
    assert units(Signal(of=Ramp, start=120.0), [0]) == [120, 180, 240, 300, 360]


def test_start_as_a_moment_asks_with_the_time_of_its_zone_also_when_clocks_change():
    model = Signal(of=Daylight, start="2025-03-30T00:00", timezone="Europe/Rome")
    hours = units(model, [0], slots=48, scale=Scale(3600, 3600.0))
    # This day has no hour from 2 to 3, so 6 o'clock comes after five hours.
    assert [hour for hour, unit in enumerate(hours) if unit] == [*range(5, 17), *range(29, 41)]


def test_fractions_are_carried_and_epochs_can_be_asked_alone():
    scale = Scale(slot_seconds=60, unit_joules=70.0)
    whole = units(Signal(of=Ramp), range(8), scale=scale)
    assert np.array_equal(np.cumsum(whole), np.floor(np.cumsum(np.arange(40)) * 60 / 70.0 + 1e-6))
    assert units(Signal(of=Ramp), [7, 3], scale=scale) == whole[35:40] + whole[15:20]


def test_with_a_period_it_begins_again_and_has_a_mean():
    model = Signal(of=Ramp, period=180.0)
    assert units(model, [0]) == [0, 60, 120, 0, 60]
    assert model.at_scale(MINUTE).mean(2).tolist() == [60.0, 60.0]
    assert units(model, [0], mean=1.0, slots=3) == [0, 1, 2]
    assert units(Signal(of=Ramp, period=180.0, factor=(1.0, 0.5)), [0], clients=2)[2] == [120, 60]
    with pytest.raises(ConfigError, match=r"The mean of a signal is not known without its length; set energy\.period"):
        units(Signal(of=Ramp), [0], mean=1.0)


def test_a_signal_that_ends_or_is_negative_is_one_sentence():
    with pytest.raises(
        EnergyError, match=r"has no answer at 0:03:00: ValueError: the trace has ended; .*energy\.period"
    ):
        units(Signal(of=Short), [0])
    assert units(Signal(of=Short, period=180.0), [0]) == [60] * 5
    with pytest.raises(EnergyError, match=r"gives -59 W at 0:01:00; watts are finite and 0 or more"):
        units(Signal(of=Negative), [0])


@pytest.mark.parametrize(
    ("of", "words"),
    [
        ("ramp", r"energy\.of = 'ramp' is no name of an object; write it as module:attribute"),
        (f"{__name__}:rramp", r"has no 'rramp'"),
        (f"{__name__}:number", r"is a float without a method at\(time\)"),
        (f"{__name__}:broken", r"can't be made: OSError: no such sensor"),
        ("…", r"set energy\.of to module:attribute"),
    ],
)
def test_what_is_no_signal_is_one_sentence(of, words):
    with pytest.raises(ConfigError, match=words):
        units(Signal(of=of), [0])
    with pytest.raises(ConfigError, match=r"The signal can't be an object of Ramp, which no config can name"):
        Signal(of=ramp)


def test_a_config_names_it_and_python_gives_it(tmp_path: Path, monkeypatch):
    (tmp_path / "roof.py").write_text("class Lamp:\n    def at(self, time):\n        return 0.5\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    scale = {"slot_seconds": 60.0, "unit_joules": 30.0}
    named = Experiment(energy={"model": "signal", "of": "roof:Lamp"}, **scale)
    assert [int(slot[0]) for slot in named.build_harvest()(0)] == [1] * 30
    given = Experiment(energy=Signal(of=make_ramp, start="2025-06-21"), **scale)
    assert given.energy.options["of"] == f"{__name__}:make_ramp"
    assert Experiment.from_toml(given.to_toml()) == given
    sys.modules.pop("roof")


def test_a_vessim_trace_gives_its_watts():
    vessim = pytest.importorskip("vessim")
    import pandas as pd

    index = pd.date_range("2025-06-21T10:00", periods=3, freq="2min", tz=UTC)
    trace = vessim.Trace(pd.Series([1.0, 0.25, 4.0], index=index, name="roof"), anchor=index[0])

    def roof():
        return trace

    # Vessim's trace knows its last moment and no later one.
    assert units(Signal(of=roof), [0]) == [60, 60, 15, 15, 240]
    assert units(Signal(of=roof, start=120.0, period=120.0), [0], slots=3) == [15, 15, 15]
    with pytest.raises(EnergyError, match=r"has no answer at 0:05:00: ValueError: Elapsed time"):
        units(Signal(of=roof), [1])
