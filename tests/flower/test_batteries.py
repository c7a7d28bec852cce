"""Batteries of nodes, by hand-worked numbers."""

import os
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fallow.energy import Harvest
from fallow.flower import Emulated, MeterCommand, Metered, MeterFile, PowerSupply, WallClock
from fallow.flower.batteries import BatteryError, Event, HarvestMeter, OpenBattery
from fallow.policies import SlotView
from fallow.policies.reserve import with_reserve
from fallow.rng import Purpose, stream
from fallow.simulation.engine import Engine
from fallow.state import to_arrays
from tests.flower.federations import small
from tests.processes import is_alive


@dataclass(frozen=True)
class Steady:
    """A unit in every slot."""

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Harvest:
        return lambda _: np.ones((slots_per_epoch, clients), dtype=np.int32)


def emulated(**options: Any) -> Emulated:
    return Emulated(Steady(), **{"slots_per_epoch": 5, "capacity": 8, "train_cost": 4, "transmit_cost": 1} | options)


def open_(battery: Any, state: Any = None, *, probes: bool = True, ideal: bool = False) -> OpenBattery:
    opened: OpenBattery = battery.open(state, probes=probes, ideal=ideal)
    return opened


def test_an_emulated_battery_lives_through_the_simulator_s_slots() -> None:
    battery = open_(emulated())
    # 4 units in slot 3: the training takes slots 3 to 6 and is debited at once.
    assert list(battery.live(0, None, selected=True)) == [Event("start", 3)]
    # slot 5: 4 - 4 + 2 = 2 units at the beginning of epoch 1, in training until slot 6, sent in slot 7.
    seen = battery.look(1)
    assert (seen.units, seen.training, seen.unsent, seen.finishing, seen.sending) == (2, True, False, False, False)
    assert list(battery.live(1, None, selected=False)) == [Event("finish", 6), Event("upload", 7)]
    assert battery.look(2).units == 7 - 1 - 4 + 4


def test_looking_ahead_changes_nothing_and_sees_what_the_first_slot_brings() -> None:
    battery = open_(emulated(initial=3, slots_per_epoch=4))
    # Starts in slot 0, finishes in slot 3, sends in slot 4: the first slot of epoch 1.
    assert list(battery.live(0, None, selected=True)) == [Event("start", 0), Event("finish", 3)]
    before = to_arrays(battery.state)
    seen = battery.look(1)
    assert (seen.units, seen.sending, seen.unsent) == (3, True, False)
    assert all(np.array_equal(before[name], array) for name, array in to_arrays(battery.state).items())


def test_a_training_whose_last_batch_runs_in_the_first_slot_is_finishing() -> None:
    battery = open_(emulated(initial=2, slots_per_epoch=4))
    assert list(battery.live(0, None, selected=True)) == [Event("start", 1)]  # slots 1 to 4
    assert battery.look(1).finishing


def test_a_probe_has_its_price_where_the_policy_makes_one() -> None:
    assert open_(emulated(probe_cost=2, initial=5)).look(0)[:6] == (4, False, False, False, False, True)
    assert open_(emulated(probe_cost=2)).look(0)[:6] == (1, False, False, False, False, False)
    assert open_(emulated(probe_cost=2, initial=5), probes=False).look(0).units == 6


def test_an_emulated_battery_goes_on_after_a_restart() -> None:
    whole, parts = open_(emulated()), open_(emulated())
    expected = [list(whole.live(epoch, None, selected=True)) for epoch in range(6)]
    seen = []
    for epoch in range(6):
        parts = open_(emulated(), parts.state)
        seen.append(list(parts.live(epoch, None, selected=True)))
    assert seen == expected
    assert sum(event.kind == "upload" for events in seen for event in events) > 2


def test_missed_epochs_are_lived_through_without_orders() -> None:
    battery = open_(emulated())
    list(battery.live(0, None, selected=True))
    assert list(battery.catch_up(4)) == [Event("finish", 6), Event("upload", 7)]
    assert battery.lived == 3
    assert battery.look(4).units == 8


def test_the_policy_s_start_is_asked_in_every_slot() -> None:
    asked: list[SlotView] = []

    def at_slot_four(view: SlotView) -> Any:
        asked.append(view)
        return view.ready & (view.slot_in_epoch == 4)

    assert list(open_(emulated(initial=8)).live(0, at_slot_four, selected=True)) == [Event("start", 4)]
    assert [(view.slot_in_epoch, int(view.battery[0])) for view in asked] == [(slot, 8) for slot in range(5)]


def test_a_node_harvests_what_its_client_harvests_in_the_simulator() -> None:
    experiment = small(clients=7, energy={"p": 0.4}, learning={"mode": "none"})
    world = Engine(experiment).world
    engine = Engine(experiment)
    rows = [np.array(list(engine._harvest(epoch))) for epoch in range(3)]
    for number in range(world.physics.clients):
        battery = Emulated.of(experiment, number)
        for epoch in range(3):
            own = np.concatenate(list(battery.harvest(epoch)))
            np.testing.assert_array_equal(own, rows[epoch][:, number])


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(time, "time", lambda: now[0])
    monkeypatch.setattr(time, "sleep", sleep)
    return now


def test_a_wall_clock_battery_fills_while_nobody_calls(clock: list[float]) -> None:
    battery = open_(WallClock(emulated(), slot_seconds=10))
    assert battery.look(0).units == 0
    clock[0] += 59
    assert battery.look(0).units == 5
    clock[0] += 1000
    assert battery.look(0).units == 8


def test_a_wall_clock_battery_waits_for_energy_and_spends_it(clock: list[float]) -> None:
    battery = open_(WallClock(emulated(slots_per_epoch=6), slot_seconds=10))
    assert list(battery.live(0, None, selected=True)) == [Event("start", 4), Event("finish", 4)]
    assert clock[0] == 1040  # four units, after four slots; nothing is left to send with
    assert battery.look(1).unsent
    battery = open_(WallClock(emulated(slots_per_epoch=6), slot_seconds=10), battery.state)
    clock[0] += 10
    assert list(battery.live(1, None, selected=False)) == [Event("upload", 6)]
    assert (battery.look(2).units, battery.look(2).unsent) == (0, False)


def test_a_wall_clock_battery_keeps_time_over_a_restart(clock: list[float]) -> None:
    battery = open_(WallClock(emulated(), slot_seconds=10))
    clock[0] += 30
    battery.look(0)
    state = battery.state
    clock[0] += 20
    assert open_(WallClock(emulated(), slot_seconds=10), state).look(0).units == 5


def test_a_metered_client_trains_at_once_or_declines() -> None:
    level = [50.0]
    battery = open_(Metered(lambda: level[0], train_cost=20, transmit_cost=5))
    assert [event.kind for event in battery.live(0, None, selected=True)] == ["start", "finish", "upload"]
    level[0] = 19.9
    assert list(battery.live(1, None, selected=True)) == []
    assert (battery.look(2).units, battery.lived) == (19, 1)


def test_a_metered_client_reads_its_battery_again_after_the_training() -> None:
    level = [50.0]
    battery = open_(Metered(lambda: level[0], train_cost=20, transmit_cost=5))
    kinds = []
    for event in battery.live(0, None, selected=True):
        kinds.append(event.kind)
        level[0] = 3.0  # the training drained it
    assert kinds == ["start", "finish"]
    assert battery.look(1).unsent
    level[0] = 6.0
    assert [event.kind for event in battery.live(1, None, selected=True)] == ["upload"]


def test_a_bound_sets_energy_aside() -> None:
    battery = open_(Metered(lambda: 0.0), ideal=True)
    assert [event.kind for event in battery.live(0, None, selected=True)] == ["start", "finish", "upload"]


def test_linux_tells_the_charge_in_percent(tmp_path: Path) -> None:
    (tmp_path / "BAT1").mkdir()
    (tmp_path / "BAT1" / "capacity").write_text("83\n")
    assert PowerSupply("BAT1", root=tmp_path)() == 83
    with pytest.raises(BatteryError, match="BAT0"):
        PowerSupply(root=tmp_path)()


def test_a_file_or_a_command_may_tell_the_level(tmp_path: Path) -> None:
    path = tmp_path / "level"
    path.write_text(" 12.5\n")
    assert MeterFile(path)() == 12.5
    assert MeterCommand((sys.executable, "-c", "print(7)"))() == 7
    path.write_text("plenty")
    with pytest.raises(BatteryError, match="'plenty' as the battery's level"):
        MeterFile(path)()
    with pytest.raises(BatteryError, match=r"can't be read: .* ended with code 3"):
        MeterCommand((sys.executable, "-c", "raise SystemExit(3)"))()
    with pytest.raises(BatteryError, match="can't be read"):
        MeterCommand(("no-such-program-anywhere",))()


def test_a_level_that_is_no_text_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "level").write_bytes(b"\xff\xfe8\x000\x00")
    with pytest.raises(BatteryError, match=r"level gave .* as the battery's level, which is no number"):
        MeterFile(tmp_path / "level")()
    with pytest.raises(BatteryError, match="which is no number"):
        MeterCommand(("printf", "\\377"))()


def test_a_pipe_that_nobody_writes_to_does_not_hold_a_node(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "level")
    with pytest.raises(BatteryError, match=r"can't be read: .*level gave none in 0.1 seconds\.$"):
        MeterFile(tmp_path / "level", timeout=0.1)()


@pytest.mark.parametrize("written", [b"62\n", b"62", b"62\n63\n"])
def test_a_pipe_gives_its_first_line(written: bytes, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "level")
    writer = os.open(tmp_path / "level", os.O_RDWR)  # so that nobody has to wait for the other
    os.write(writer, written)
    if b"\n" not in written:
        threading.Timer(0.2, os.close, [writer]).start()
    assert MeterFile(tmp_path / "level")() == 62


def test_a_command_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    program = f"sleep 1000 & echo $! > '{tmp_path}/child'; sleep 1000"
    with pytest.raises(BatteryError, match=r"took more than 0.5 seconds, and was ended\.$"):
        MeterCommand(("sh", "-c", program), timeout=0.5)()
    child = int((tmp_path / "child").read_text())
    while is_alive(child):
        time.sleep(0.01)


def test_what_a_command_leaves_behind_is_ended(tmp_path: Path) -> None:
    program = f"sleep 1000 > /dev/null & echo $! > '{tmp_path}/child'; echo 40"
    assert MeterCommand(("sh", "-c", program))() == 40
    child = int((tmp_path / "child").read_text())
    while is_alive(child):
        time.sleep(0.01)


def test_a_level_beyond_the_capacity_is_refused() -> None:
    assert open_(Metered(lambda: 100.4)).look(0).units == 100
    with pytest.raises(BatteryError, match="level is 150, and its capacity is 100; give it the capacity"):
        open_(Metered(lambda: 150.0)).look(0)
    assert open_(Metered(lambda: 150.0, capacity=200)).look(0).units == 150


@pytest.mark.parametrize("level", [-1.0, float("nan"), float("inf")])
def test_a_level_that_can_not_be_is_refused(level: float) -> None:
    with pytest.raises(BatteryError, match="0 or more"):
        open_(Metered(lambda: level)).look(0)


def test_an_emulated_battery_knows_its_harvest_as_the_simulator_does() -> None:
    battery = open_(emulated())
    assert isinstance(battery, HarvestMeter)
    assert battery.mean_harvest(0) == 0
    list(battery.catch_up(2))
    assert battery.mean_harvest(2) == 1
    assert battery.forecast(2, 3, 0.0).tolist() == [4, 5, 5]  # the first slot has passed
    third = open_(emulated(clients=4, number=2, seed=7))
    assert isinstance(third, HarvestMeter)
    z = stream(7, Purpose.FORECAST, 2).standard_normal((4, 3))[2]
    np.testing.assert_allclose(third.forecast(2, 3, 0.5), np.array([4, 5, 5]) * np.exp(0.5 * z - 0.125))


def test_a_wall_clock_battery_knows_its_harvest_by_its_own_clock(clock: list[float]) -> None:
    battery = open_(WallClock(emulated(), slot_seconds=10))
    assert isinstance(battery, HarvestMeter)
    assert battery.mean_harvest(0) == 0
    clock[0] += 129
    assert battery.look(0).units == 8
    again = open_(WallClock(emulated(), slot_seconds=10), battery.state)
    assert isinstance(again, HarvestMeter)
    assert again.mean_harvest(0) == 1  # twelve units in twelve slots, though eight of them found room
    assert again.forecast(0, 3, 0.0).tolist() == [3, 5, 5]  # two slots of its third epoch have passed


def test_a_meter_knows_no_harvest_and_forecasts_what_its_owner_gives() -> None:
    battery = open_(Metered(lambda: 50.0))
    assert isinstance(battery, HarvestMeter)
    assert np.isnan(battery.mean_harvest(3))
    assert np.isnan(battery.forecast(3, 2, 0.0)).tolist() == [True, True]
    told = open_(Metered(lambda: 50.0, forecast=lambda epochs: [7] * epochs))
    assert isinstance(told, HarvestMeter)
    assert told.forecast(3, 2, 0.3).tolist() == [7, 7]


@pytest.mark.parametrize("given", [[1.0], [1.0, -1.0], [1.0, float("nan")], [1.0, float("inf")]], ids=str)
def test_a_forecast_that_can_not_be_is_refused(given: list[float]) -> None:
    battery = open_(Metered(lambda: 50.0, forecast=lambda _: given))
    assert isinstance(battery, HarvestMeter)
    with pytest.raises(BatteryError, match="must be 2 finite numbers, 0 or more"):
        battery.forecast(0, 2, 0.0)


@pytest.mark.parametrize(("level", "starts"), [(24.0, False), (25.0, True)])
def test_the_reserve_keeps_a_metered_client_from_a_training_that_it_could_not_send(level: float, starts: bool) -> None:
    battery = open_(Metered(lambda: level, train_cost=20, transmit_cost=5))
    kinds = [event.kind for event in battery.live(0, with_reserve, selected=True)]
    assert kinds == (["start", "finish", "upload"] if starts else [])


def test_the_reserve_waits_by_the_wall_clock_until_it_can_also_send(clock: list[float]) -> None:
    battery = open_(WallClock(emulated(slots_per_epoch=6), slot_seconds=10))
    assert [(event.kind, event.slot) for event in battery.live(0, with_reserve, selected=True)] == [
        ("start", 5),
        ("finish", 5),
        ("upload", 5),
    ]
    assert clock[0] == 1050  # five units after five slots: four to train, one to send
