"""Devices beyond the paper's, worked by hand: losses, idle drain, sleep, listening, downloads, long uploads."""

from typing import Any

import numpy as np
import pytest

from fallow.energy import Physics
from fallow.errors import PhysicsError
from fallow.experiment import Experiment
from fallow.simulation import charging, charging_block
from fallow.simulation.engine import Engine
from fallow.simulation.epochs import LivedEpoch
from fallow.simulation.world import World
from fallow.state import pack


def device(clients: int = 1, *, slots: int = 10, capacity: int = 100, train: int = 50, **more: Any) -> World:
    """A world in which nobody has the energy to train, unless told otherwise."""
    initial, transmit = more.pop("initial", 0), more.pop("transmit", 1)
    return World(Physics(slots, np.full(clients, capacity, dtype=np.int32), initial, train, transmit, **more))


def live(place: World, harvest: list[int], epoch: int = 0, selected: bool = True) -> tuple[list[int], LivedEpoch]:
    """Lives through an epoch, and returns the level of the first client after each slot."""
    clients, levels = place.physics.clients, []
    rows = np.repeat(np.array(harvest, dtype=np.int64)[:, None], clients, axis=1)
    opened = place.open_epoch(epoch, rows)
    watch = lambda _, seen: levels.append(int(seen.state.battery[0]))  # noqa: E731
    return levels, place.run_slots(opened, np.full(clients, selected), watch=watch)


def test_idle_drain_of_three_tenths_is_three_units_in_ten_slots() -> None:
    levels, lived = live(device(initial=9, idle=0.3), [0] * 10)
    assert levels == [9, 9, 9, 8, 8, 8, 7, 7, 7, 6]
    assert lived.counters.consumed_idle == lived.counters.consumed == 3


def test_idle_drain_takes_no_more_than_is_there() -> None:
    levels, lived = live(device(slots=4, initial=3, idle=1.5), [0, 0, 0, 1])
    assert levels == [2, 0, 0, 0]
    assert lived.counters.consumed_idle == 4


def test_what_reaches_the_battery_is_nine_tenths_with_the_fraction_carried_over_slots_and_epochs() -> None:
    place = device(slots=5, efficiency=0.9)
    assert live(place, [1] * 5)[0] == [0, 1, 2, 3, 4]
    levels, lived = live(place, [1] * 5, epoch=1)
    assert levels == [5, 6, 7, 8, 9]  # 9 of 10, not 8
    assert (lived.counters.harvested, lived.counters.conversion_loss) == (5, 0)
    assert live(place, [10, 0, 0, 0, 0], epoch=2)[1].counters.conversion_loss == 1


def test_self_discharge_is_exponential_to_within_a_unit() -> None:
    place = device(slots=200, capacity=10**6, train=10**6, initial=10**6 - 1, self_discharge=0.01)
    levels, lived = live(place, [0] * 200)
    expected = (10**6 - 1) * 0.99 ** np.arange(1, 201)
    assert np.abs(np.array(levels) - expected).max() < 1
    assert lived.counters.leakage == 10**6 - 1 - levels[-1]


def test_a_self_discharge_far_below_a_unit_adds_up() -> None:
    # 0.001 of a unit leaks in each slot.
    place = device(slots=2000, capacity=1000, initial=1000, self_discharge=1e-6)
    levels, _ = live(place, [0] * 2000, selected=False)
    assert (levels[998], levels[999], levels[-1]) == (1000, 999, 999)  # 0.999 of a unit leaks a little slower


def test_a_days_self_discharge_is_spread_over_its_slots() -> None:
    most = 10**6
    experiment = Experiment(
        clients=1,
        slots_per_epoch=24,
        epochs=2,
        slot_seconds=3600.0,
        energy={"p": 0.0},
        battery={"capacity": most, "initial": most - 1, "self_discharge": 0.1},
        cost={"train": most},
        policy="fedavg",
    )
    stored = [record.stored for record in Engine(experiment)]
    assert stored == pytest.approx([(most - 1) * 0.9, (most - 1) * 0.81], abs=1)


def test_self_discharge_comes_before_the_harvest_and_the_cap_after_both() -> None:
    place = device(slots=1, capacity=10, initial=9, self_discharge=0.5)
    levels, lived = live(place, [8], selected=False)
    assert levels == [10]  # 9 − 4 + 8 = 13, of which 10 stay; after the harvest 17 would have leaked to 9
    assert (lived.counters.leakage, lived.counters.overflow) == (4, 3)


def test_a_device_sleeps_below_the_cutoff_and_wakes_at_its_level() -> None:
    place = device(slots=8, cutoff=3, wake=5, idle=1.0, initial=4)
    asleep: list[bool] = []
    opened = place.open_epoch(0, np.array([[0], [0], [0], [1], [1], [1], [2], [1]]))
    place.run_slots(opened, np.array([True]), watch=lambda _, seen: asleep.append(bool(seen.state.asleep[0])))
    # 4 → 3 → 2 (asleep, and draws nothing) → 2 → 3 → 4 → 5 (awake) → 7 − 1 → 7 − 1
    assert asleep == [False, True, True, True, True, False, False, False]
    assert (place.state.battery[0], place.state.asleep_slots[0], place.state.idle_drain[0]) == (6, 4, 4)


def test_a_sleeper_trains_on_but_sends_only_when_awake() -> None:
    place = device(slots=9, train=4, initial=6, cutoff=2, wake=4, transmit=1, idle=0.25, capacity=20)
    levels, lived = live(place, [0, 0, 0, 0, 0, 1, 1, 1, 0])
    # It starts in slot 0 with 2 left; the drain of slot 3 puts it to sleep in training, which ends in that slot.
    assert levels == [2, 2, 2, 1, 1, 2, 3, 3, 3]
    kinds = [(event.kind, event.slot) for event in lived.events if event.clients.size and event.kind != "select"]
    assert kinds == [("start", 0), ("finish", 3), ("upload", 7)]  # awake at 4 in slot 7, and pays 1


def test_who_can_not_pay_to_listen_can_not_start_in_the_epoch() -> None:
    place = device(slots=3, train=2, initial=1, listen_cost=2, capacity=9)
    levels, lived = live(place, [0, 5, 0])
    assert (levels, lived.counters.starts, lived.counters.consumed_listen) == ([1, 6, 6], 0, 0)
    levels, lived = live(place, [0, 0, 0], epoch=1)
    assert (levels, lived.counters.starts, lived.counters.consumed_listen) == ([2, 2, 1], 1, 2)


def test_a_sleeper_in_the_first_slot_is_not_reached_and_has_nothing_to_spend() -> None:
    place = device(slots=2, train=2, initial=3, cutoff=4, wake=6, capacity=20)
    opened = place.open_epoch(0, np.array([[0], [9]]))
    assert (opened.reached.tolist(), place.spendable(opened.reached).tolist()) == ([False], [0])
    assert place.run_slots(opened, np.array([True])).counters.starts == 0
    opened = place.open_epoch(1, np.array([[0], [0]]))
    assert (place.capacity.tolist(), place.spendable(opened.reached).tolist()) == ([16], [8])
    assert place.run_slots(opened, np.array([True])).counters.starts == 1


def test_the_download_is_paid_at_the_first_start_of_an_epoch_only() -> None:
    place = device(slots=6, train=2, initial=20, download_cost=3, capacity=20)
    opened = place.open_epoch(0, np.zeros((6, 1), dtype=np.int8))
    assert place.start_cost(opened).tolist() == [5]
    lived = place.run_slots(opened, np.array([True]))
    # start at 0 (2 + 3), send at 2, start at 3 (2), send at 5
    assert (lived.counters.starts, lived.counters.consumed_download, int(place.state.battery[0])) == (2, 3, 11)


def test_a_probe_pays_the_download_too_or_is_not_made() -> None:
    place = device(2, slots=2, train=2, initial=np.array([4, 5]), probe_cost=1, download_cost=3, cutoff=1)
    opened = place.open_epoch(0, np.zeros((2, 2), dtype=np.int8))
    assert opened.paid.tolist() == [False, True]
    assert place.start_cost(opened).tolist() == [5, 2]
    assert place.state.battery.tolist() == [4, 1]


def test_an_upload_of_three_slots_arrives_in_the_last_and_counts_in_that_epoch() -> None:
    place = device(slots=4, train=2, initial=9, transmit_slots=3, transmit=2)
    levels, lived = live(place, [0] * 4)
    assert (levels, lived.counters.uploads, lived.counters.consumed_tx) == ([7, 7, 5, 5], 0, 2)
    assert (place.unsent(4).tolist(), place.state.sends.tolist()) == ([True], [1])
    levels, lived = live(place, [0] * 4, epoch=1)
    assert (lived.counters.uploads, lived.counters.stale_uploads, lived.delivered.tolist()) == (1, 1, [True])
    # It arrives in slot 4, and who sends can't start: the next training begins in slot 5.
    starts = [(event.slot, event.clients.tolist()) for event in lived.events if event.kind == "start"]
    assert starts == [(5, [0])]


def test_a_training_takes_its_slots_and_costs_its_units() -> None:
    levels, lived = live(device(slots=5, train=7, train_slots=2, initial=9), [0] * 5)
    assert levels == [2, 2, 1, 1, 1]
    assert [event.slot for event in lived.events if event.kind == "finish"] == [1]


def test_books_that_hide_a_leak_stop_the_run() -> None:
    place = device(2, self_discharge=0.5, initial=50, train=100)
    place.state.leakage[1] = 1
    with pytest.raises(PhysicsError, match="client 1 should store"):
        live(place, [0] * 10)


EVERYTHING: dict[str, Any] = {
    "clients": 9,
    "slots_per_epoch": 7,
    "epochs": 10,
    "energy": {"p": 0.8},
    "battery": {
        "capacity": [30, 12, 25] * 3,
        "initial": 6,
        "efficiency": [0.9, 1.0, 0.7] * 3,
        "self_discharge": [0.01, 0.0, 0.05] * 3,
        "idle": [0.1, 0.05, 0.0] * 3,
        "cutoff": 2,
        "wake": [3, 5, 0] * 3,
    },
    "cost": {"train": 4, "train_slots": [3, 0, 6] * 3, "transmit_slots": [1, 5, 3] * 3, "listen": 1, "download": 1},
    "policy": {"name": "vaoi", "k": 6},
    "learning": {"significance": 0.6},
}


def records(engine: Engine) -> list[dict[str, Any]]:
    return [record.row() for record in engine]


def test_a_run_with_everything_on_goes_on_from_its_checkpoint_to_the_same_bytes() -> None:
    whole, first, second = (Engine(Experiment(**EVERYTHING)) for _ in range(3))
    expected = records(whole)
    for _ in range(5):
        first.step()
    assert first.world.state.arrives_at.max() > 0  # an upload is on its way
    arrays, notes = pack(first.state)
    second.restore(second.unpack(arrays, notes))
    assert records(second) == expected[5:]
    ours, theirs = vars(second.world.state), vars(whole.world.state)
    assert all(np.array_equal(ours[name], theirs[name]) for name in theirs)
    assert min(sum(row[name] for row in expected) for name in ("consumed_idle", "leakage", "asleep", "uploads")) > 0


def test_the_size_of_blocks_and_of_notes_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = Engine(Experiment(**EVERYTHING))
    told = records(expected)
    monkeypatch.setattr(charging, "BLOCK", 2)
    monkeypatch.setattr(charging, "MOST_SLOTS", 3)
    found = Engine(Experiment(**EVERYTHING))
    assert len(found.world._charging._blocks) == 5
    assert records(found) == told
    ours, theirs = vars(found.world.state), vars(expected.world.state)
    assert all(np.array_equal(ours[name], theirs[name]) for name in theirs)


def test_notes_hold_the_most_that_can_be_harvested_and_slept() -> None:
    most = 10**9
    place = device(slots=300, capacity=most, train=most, cutoff=most, wake=most, efficiency=0.5)
    assert isinstance(place._charging._blocks[0], charging_block.Block)
    rows = np.zeros((300, 1), dtype=np.int64)
    rows[:5] = most
    rows[0] = 0
    lived = place.run_slots(place.open_epoch(0, rows), np.array([True]))
    counted = lived.counters
    assert (counted.harvested, counted.conversion_loss, counted.overflow) == (4 * most, 2 * most, most)
    assert counted.asleep == 2  # in the empty slot, and with half of what it takes to wake

    drained = device(slots=300, capacity=9, train=9, initial=0, cutoff=1, idle=1.0)
    assert live(drained, [0] * 300)[1].counters.asleep == 300
