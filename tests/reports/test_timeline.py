import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fallow.errors import FallowError
from fallow.experiment import Experiment
from fallow.reports.activity import Events, read_events
from fallow.reports.harvests import given_files
from fallow.reports.runs import ReportedRun, read_runs
from fallow.reports.timeline import choose_clients, choose_window, make_window, replay
from fallow.runs.event_table import KINDS
from fallow.runs.writer import RunWriter
from fallow.simulation.engine import Engine
from tests.reports.made_runs import SMALL, live

DEVICES = Path(__file__).parents[2] / "configs" / "devices.toml"
WORLDS: dict[str, dict[str, Any]] = {
    "vaoi": {},
    "fedavg": {"policy.name": "fedavg", "energy.p": 0.8},
    "fedbacys": {"policy.name": "fedbacys", "energy.p": 0.9},
    "fedbacys-odd": {"policy.name": "fedbacys-odd", "energy.p": 0.9},
    "probes that cost": {"cost.probe": 2, "energy.p": 0.7},
    "no costs at all": {"policy.name": "unlimited"},
    "unequal clients": {"battery.capacity": [9, 25, 25, 30, 40, 12], "cost.train": [9, 20, 5, 30, 7, 12]},
    "one start an epoch": {"starts_per_epoch": 1, "cost.train": 4, "policy.name": "fedavg"},
    "shared weather at another mean": {"energy.correlation": 0.5, "energy.mean": 0.7},
    "uploads of several slots": {"cost.transmit_slots": 4, "cost.train": 9, "cost.train_slots": 3},
    "every loss": {
        "battery.efficiency": 0.8,
        "battery.self_discharge": 0.01,
        "battery.idle": 0.1,
        "battery.cutoff": 2,
        "battery.wake": 6,
        "energy.p": 0.9,
    },
    "listening and downloads": {"cost.listen": 1, "cost.download": 2, "energy.p": 0.9},
    "downloads without probes": {"cost.download": 2, "energy.p": 0.9, "policy.name": "fedavg"},
    "a full beginning": {"battery.initial": 25, "energy.p": [0, 0.1, 0.2, 0.3, 0.4, 1]},
}


def read(directory: Path) -> ReportedRun:
    return read_runs([directory])[0][0]


def lived(settings: dict[str, Any]) -> list[np.ndarray]:
    """The batteries at the end of every slot, as the engine's own world has them."""
    engine = Engine(Experiment.read(None, [f"{name}={json.dumps(value)}" for name, value in settings.items()]))
    levels: list[np.ndarray] = []
    for _ in range(engine.experiment.epochs):
        engine.step(watch=lambda _slot, world: levels.append(world.state.battery.copy()))
    return levels


@pytest.mark.parametrize("changes", WORLDS.values(), ids=WORLDS.keys())
def test_replayed_batteries_are_those_of_the_engine(tmp_path: Path, changes: dict[str, Any]) -> None:
    settings = SMALL | changes
    run = read(live(tmp_path / "run", **changes))
    battery = replay(run, read_events(run, KINDS), (2, 8), [0, 3, 5]).battery
    levels = np.stack(lived(settings), axis=1)
    assert np.array_equal(battery, levels[[0, 3, 5], 2 * 30 :])


def test_batteries_of_device_classes_with_harvests_of_their_own_are_replayed(tmp_path: Path) -> None:
    experiment = Experiment.read(DEVICES, ["clients=8", "epochs=4", "policy.k=3"])
    assert any(device.energy for device in experiment.device)
    engine, levels = Engine(experiment), []
    with RunWriter(engine, tmp_path / "run") as writer:
        writer.write(engine)
    run, again = read(tmp_path / "run"), Engine(experiment)
    for _ in range(4):
        again.step(watch=lambda _slot, world: levels.append(world.state.battery.copy()))
    stretch = replay(run, read_events(run, KINDS), (0, 4), list(range(8)))
    assert np.array_equal(stretch.battery, np.stack(levels, axis=1))
    assert stretch.capacity == [2_000_000] * 2 + [50] * 6


def test_who_sleeps_is_shown_asleep(tmp_path: Path) -> None:
    given = {"battery__cutoff": 3, "battery__initial": 1, "energy__p": 1.0, "policy__name": "fedavg"}
    run = read(live(tmp_path / "run", **given))
    window = make_window(run, read_events(run, KINDS), (0, 2), [0])
    # One unit at first, one more in each slot: below three it sleeps, and does not hear the server in this epoch.
    assert window.states[0] == "4" + "0" * 29 + "1" * 20 + "3" + "1" * 9
    assert window.stretch is not None
    assert window.stretch.battery[0, :3].tolist() == [2, 3, 4]


def test_the_harvest_of_a_window_explains_its_batteries(tmp_path: Path) -> None:
    run = read(live(tmp_path / "run", policy__name="fedavg", battery__capacity=1000))
    stretch = replay(run, read_events(run, KINDS), (0, 8), list(range(6)))
    spent = run.summary["energy_total"]
    assert stretch.harvest.sum() == stretch.battery[:, -1].sum() + spent == run.summary["harvested"]
    assert stretch.capacity == [1000] * 6


def test_a_trace_that_is_given_is_replayed_and_one_that_changed_is_noticed(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("units\n" + "1\n0\n2\n" * 20)
    run = read(live(tmp_path / "run", energy__model="trace", energy__path=str(trace), energy__p=None))
    events, files = read_events(run, KINDS), given_files([trace])
    stretch = replay(run, events, (0, 1), [0], files)
    assert stretch.harvest[0, :4].tolist() == [1, 0, 2, 1]
    assert stretch.battery[0, :4].tolist() == [1, 1, 3, 4]
    trace.write_text("units\n" + "0\n0\n2\n" * 20)
    with pytest.raises(FallowError, match="epoch 0 comes to other sums"):
        replay(run, events, (0, 1), [0], files)
    trace.unlink()
    window = make_window(run, events, (0, 1), [0], files)
    assert window.stretch is None
    assert "can't be read" in window.why_no_battery


def test_somebody_elses_harvest_is_not_run(tmp_path: Path) -> None:
    run = read(live(tmp_path / "run"))
    other = ReportedRun(run.name, run.directory, {**run.settings, "energy.model": "os:system"}, run.summary, run.epochs)
    window = make_window(other, read_events(run, KINDS), (0, 1), [0])
    assert "'os:system' is not one that a report computes again" in window.why_no_battery
    assert len(window.states[0]) == 30


def test_somebody_elses_harvest_in_a_mix_is_not_run_either(tmp_path: Path) -> None:
    run = read(live(tmp_path / "run"))
    mix = {"energy.model": "mix", "energy.sources": [{"model": "bernoulli"}, {"model": "os:system"}]}
    other = ReportedRun(run.name, run.directory, {**run.settings, **mix}, run.summary, run.epochs)
    window = make_window(other, read_events(run, KINDS), (0, 1), [0])
    assert "'os:system' is not one that a report computes again" in window.why_no_battery


def events(*rows: tuple[str, int, int]) -> Events:
    """Events as (kind, slot, client), four slots an epoch."""
    kind, slot, client = zip(*rows, strict=True)
    slots = np.array(slot, dtype=np.int32)
    codes = np.array([KINDS.index(one) for one in kind], dtype=np.int8)
    return Events(slots // 4, slots, np.array(client, dtype=np.int32), codes)


def test_states_worked_by_hand() -> None:
    settings = {"seed": 0, "clients": 2, "slots_per_epoch": 4, "energy.model": "x:Y", "battery.capacity": 25}
    run = ReportedRun("run", Path("run"), settings, {}, {})
    what = events(
        ("keep", 0, 0),
        ("select", 0, 0),
        ("start", 1, 0),
        ("finish", 3, 0),
        ("upload", 6, 0),
        ("drop", 6, 0),
        ("start", 7, 0),
        ("start", 9, 1),
    )
    whole = make_window(run, what, (0, 3), [0, 1])
    assert whole.states == ["011122311111", "000000000111"]
    assert whole.selected == [[0], []]
    assert make_window(run, what, (1, 2), [0, 1]).states == ["2231", "0000"]


def test_an_upload_of_several_slots_ends_in_the_slot_in_which_it_is_received() -> None:
    settings = {"seed": 0, "clients": 1, "slots_per_epoch": 4, "energy.model": "x:Y", "cost.transmit_slots": 3}
    run = ReportedRun("run", Path("run"), settings, {}, {})
    what = events(("start", 0, 0), ("finish", 1, 0), ("upload", 5, 0), ("start", 6, 0))
    assert make_window(run, what, (0, 2), [0]).states == ["11233311"]
    assert make_window(run, what, (0, 1), [0]).states == ["1123"]


def test_the_window_is_the_first_in_which_enough_clients_start() -> None:
    starts = events(*(("start", 4 * 9 + client % 4, client) for client in range(12)))
    window = choose_window(starts, epochs=50, most_epochs=50)
    assert window == (4, 10)
    assert choose_clients(starts, window, clients=40) == list(range(12))
    assert choose_window(starts, epochs=50, most_epochs=3) == (0, 3)
    assert choose_clients(starts, (0, 3), clients=5) == [0, 1, 2, 3, 4]
