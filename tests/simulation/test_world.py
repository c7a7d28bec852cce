"""The slots of an epoch, worked by hand."""

from collections.abc import Iterable

import numpy as np
import pytest

from fallow.energy import Physics
from fallow.errors import EnergyError, PhysicsError, PolicyError
from fallow.simulation.books import balance_books
from fallow.simulation.epochs import LivedEpoch
from fallow.simulation.world import World


def world(clients: int = 1, *, slots: int = 6, capacity: int = 5, train: int = 3, transmit: int = 1, **more) -> World:
    def array(value: int) -> np.ndarray:
        return np.full(clients, value, dtype=np.int32)

    return World(Physics(slots, array(capacity), array(more.pop("initial", 0)), array(train), transmit, **more))


def everyone(paid: np.ndarray) -> np.ndarray:
    return np.ones(paid.size, dtype=np.bool_)


def live(place: World, harvest: list[list[int]], epoch: int = 0, select=everyone, start=None):
    levels: list[list[int]] = []
    opened = place.open_epoch(epoch, np.array(harvest, dtype=np.uint8))
    lived = place.run_slots(
        opened, select(opened.paid), start, lambda _, seen: levels.append(seen.state.battery.tolist())
    )
    return lived, levels


def kinds(now: LivedEpoch, kind: str) -> list[tuple[int, list[int]]]:
    return [(slot, clients.tolist()) for what, slot, clients, _ in now.events if what == kind]


def test_a_client_trains_for_kappa_slots_then_uploads_in_the_next() -> None:
    now, levels = live(world(initial=3), [[0], [0], [0], [1], [0], [0]])
    assert kinds(now, "start") == [(0, [0])]
    assert kinds(now, "finish") == [(2, [0])]
    assert kinds(now, "upload") == [(3, [0])]
    assert levels == [[0], [0], [0], [0], [0], [0]]


def test_the_harvest_comes_first_so_the_kappath_unit_starts_a_training_in_its_own_slot() -> None:
    now, levels = live(world(initial=2), [[1], [0], [0], [0], [0], [0]])
    assert kinds(now, "start") == [(0, [0])]
    assert levels[0] == [0]


def test_an_update_waits_until_there_is_energy_to_send_it() -> None:
    now, _ = live(world(initial=3), [[0], [0], [0], [0], [0], [1]])
    assert kinds(now, "upload") == [(5, [0])]


def test_who_uploads_does_not_start_in_the_same_slot() -> None:
    now, _ = live(world(initial=5, train=1, capacity=9), [[1]] * 6)
    assert kinds(now, "start") == [(0, [0]), (2, [0]), (4, [0])]
    assert kinds(now, "upload") == [(1, [0]), (3, [0]), (5, [0])]


def test_the_cap_turns_energy_away_and_counts_it_during_training_too() -> None:
    place = world(initial=5, capacity=5, train=3)
    now, levels = live(place, [[2], [2], [2], [2], [0], [0]])
    # 5+2 capped to 5, start −3 = 2; 4; 6 capped to 5; 7 capped to 5, upload −1 = 4; start at slot 4: 4 − 3 = 1.
    assert [level for (level,) in levels] == [2, 4, 5, 4, 1, 1]
    assert now.counters.overflow == 2 + 1 + 2
    assert now.counters.harvested == 8


def test_a_training_that_crosses_the_epoch_delivers_late() -> None:
    place = world(initial=5, slots=2, train=3)
    first, _ = live(place, [[0], [0]])
    second, _ = live(place, [[0], [0]], epoch=1)
    assert (first.counters.starts, first.counters.finishes, first.counters.uploads) == (1, 0, 0)
    assert (
        second.counters.starts,
        second.counters.finishes,
        second.counters.uploads,
        second.counters.stale_uploads,
    ) == (0, 1, 1, 1)
    (event,) = (e for e in second.events if e[0] == "upload")
    assert event[3].tolist() == [1]


def test_an_upload_in_the_first_slot_belongs_to_the_new_epoch() -> None:
    place = world(initial=4, slots=3, train=3)
    live(place, [[0]] * 3)
    second, _ = live(place, [[0]] * 3, epoch=1)
    assert kinds(second, "upload") == [(3, [0])]
    assert second.delivered.tolist() == [True]


def test_each_client_may_have_its_own_kappa() -> None:
    physics = Physics(6, np.array([9, 9]), np.array([9, 9]), np.array([2, 4]), 1)
    now, _ = live(World(physics), [[0, 0]] * 6)
    assert kinds(now, "start") == [(0, [0, 1]), (3, [0]), (5, [1])]
    assert kinds(now, "upload") == [(2, [0]), (4, [1]), (5, [0])]


def test_a_limit_on_starts_holds_within_an_epoch() -> None:
    place = world(initial=9, capacity=9, train=1, starts_per_epoch=1)
    first, _ = live(place, [[1]] * 6)
    second, _ = live(place, [[1]] * 6, epoch=1)
    assert (first.counters.starts, second.counters.starts) == (1, 1)


def test_probes_are_paid_by_those_who_can_before_anyone_starts() -> None:
    physics = Physics(1, np.array([5, 5]), np.array([3, 1]), np.array([2, 2]), 1, probe_cost=2)
    seen: list[list[bool]] = []

    def select(paid: np.ndarray) -> np.ndarray:
        seen.append(paid.tolist())
        return everyone(paid)

    now, levels = live(World(physics), [[0, 0]], select=select)
    assert seen == [[True, False]]
    assert levels == [[1, 1]]
    assert (now.counters.consumed_probe, now.counters.starts) == (2, 0)


def test_a_policy_can_narrow_who_starts_but_not_widen_it() -> None:
    now, _ = live(world(2, initial=5), [[0, 0]] * 6, start=lambda view: view.ready & np.array([True, False]))
    assert kinds(now, "start") == [(0, [0])]
    now, _ = live(world(2, initial=0), [[0, 0]] * 6, start=lambda _: np.ones(2, dtype=np.bool_))
    assert now.counters.starts == 0


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (np.ones(3, dtype=bool), r"shape \(3,\)"),
        (np.ones(2, dtype=int), "type int64"),
        ([True, False], "a list"),
        (None, "a NoneType"),
    ],
)
def test_a_policy_that_returns_the_wrong_thing_is_told_so(mask, words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        live(world(2), [[0, 0]] * 6, select=lambda _: mask)


@pytest.mark.parametrize(
    ("harvest", "words"),
    [
        (np.zeros((6, 2), dtype=float), "type float64"),
        (np.zeros((6, 3), dtype=int), r"shape \(3,\)"),
        (np.zeros((5, 2), dtype=int), "gave 5 slots for an epoch of 6"),
        (iter(np.zeros((5, 2), dtype=int)), "gave 5 slots for an epoch of 6"),
        (iter(np.zeros((0, 2), dtype=int)), "gave 0 slots for an epoch of 6"),
        (iter(np.zeros((7, 2), dtype=int)), "gave more than the 6 slots of an epoch"),
        (np.full((6, 2), 2**40), "gave 1099511627776 units"),
        (np.full((6, 2), -1), "gave -1 units"),
    ],
)
def test_an_energy_model_that_gives_the_wrong_thing_is_told_so(harvest: Iterable[np.ndarray], words: str) -> None:
    place = world(2)
    with pytest.raises(EnergyError, match=words):
        place.run_slots(place.open_epoch(0, harvest), np.ones(2, dtype=np.bool_))


def test_cooked_books_are_found_and_the_client_named() -> None:
    place = world(3, initial=2)
    place.state.battery[1] += 1
    with pytest.raises(PhysicsError, match="client 1 should store 2 units and stores 3"):
        balance_books(place.physics, place.state)


def test_a_level_outside_the_battery_is_found_even_if_the_sums_are_right() -> None:
    place = world(1, initial=2)
    place.state.battery[0] -= 3
    place.state.overflow[0] += 3
    with pytest.raises(PhysicsError, match="stores -1"):
        balance_books(place.physics, place.state)


def test_an_ideal_world_delivers_every_epoch_free_of_charge() -> None:
    now, levels = live(world(2, slots=2, train=5, capacity=5, ideal=True), [[1, 0], [1, 0]])
    assert (now.counters.starts, now.counters.finishes, now.counters.uploads, now.counters.consumed_train) == (
        2,
        2,
        2,
        0,
    )
    assert kinds(now, "upload") == [(1, [0, 1])]
    assert levels == [[1, 0], [2, 0]]


def test_opening_an_epoch_is_its_first_slot_up_to_the_selection() -> None:
    # Client 0 sends in slot 3, client 1 trains in slots 2 to 4, client 2 finishes in slot 3, client 3 is idle.
    physics = Physics(3, np.full(4, 9), np.array([4, 2, 3, 0]), np.array([3, 3, 3, 3]), 1)
    place = World(physics)
    script = {0: [0], 1: [2], 2: [1]}

    def start(view):
        return np.isin(np.arange(4), script[view.slot_in_epoch])

    first = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0]], dtype=np.uint8)
    place.run_slots(place.open_epoch(0, first), np.ones(4, dtype=np.bool_), start)
    assert place.state.battery.tolist() == [1, 0, 0, 0]
    opened = place.open_epoch(1, np.array([[5, 5, 5, 5], [0] * 4, [0] * 4], dtype=np.uint8))
    assert (opened.slot, opened.sent.tolist(), opened.finishing.tolist()) == (3, [0], [2])
    assert place.state.battery.tolist() == [5, 5, 5, 5]  # client 0 has paid for its upload
    assert place.training(3).tolist() == [False, True, True, False]
    assert opened.paid.all()


def test_a_world_taken_up_from_its_state_goes_on_as_if_nothing_had_happened() -> None:
    rng = np.random.default_rng(0)
    harvest = [rng.integers(0, 3, (4, 5)) for _ in range(12)]

    def lived(place: World, epoch: int):
        return place.run_slots(place.open_epoch(epoch, harvest[epoch]), rng_mask(epoch))

    def rng_mask(epoch: int) -> np.ndarray:
        return np.random.default_rng(epoch).random(5) < 0.7

    physics = Physics(4, np.full(5, 9), np.zeros(5, dtype=np.int32), np.array([2, 3, 5, 6, 9]), 2)
    whole, parts = World(physics), World(physics)
    for epoch in range(12):
        one, other = lived(whole, epoch), lived(parts, epoch)
        assert one.counters == other.counters
        assert [(*event[:2], event.clients.tolist()) for event in one.events] == [
            (*event[:2], event.clients.tolist()) for event in other.events
        ]
        parts = World(physics, parts.state.copy())
    assert whole.state.uploads.sum() > 10


def test_epochs_that_find_an_idle_client_short_of_a_training_are_counted() -> None:
    place = world(3, slots=2, train=3, capacity=5)
    place.state.battery[:] = [1, 3, 0]
    place.state.harvested[:] = [1, 3, 0]
    # Client 0 has 2 after the first harvest, client 1 has 3 and trains into the next epoch, client 2 has 3 by then.
    live(place, [[1, 0, 3], [0, 0, 0]], select=lambda _: np.array([False, True, False]))
    assert place.state.short_epochs.tolist() == [1, 0, 0]
    live(place, [[0, 0, 0], [1, 0, 0]], epoch=1, select=lambda paid: ~everyone(paid))
    assert place.state.short_epochs.tolist() == [2, 0, 0]  # who trains is not idle, however little it holds
    live(place, [[0, 0, 0], [0, 0, 0]], epoch=2, select=lambda paid: ~everyone(paid))
    assert place.state.short_epochs.tolist() == [2, 0, 0]  # an update that is not sent keeps a client busy too


def test_books_are_kept_slot_by_slot_for_those_who_look_on() -> None:
    place = world(1, slots=3, capacity=2)
    seen = []
    opened = place.open_epoch(0, np.array([[1], [1], [2]], dtype=np.uint8), slot_by_slot=True)
    place.run_slots(
        opened,
        np.array([False]),
        watch=lambda _, w: seen.append((int(w.state.harvested[0]), int(w.state.overflow[0]))),
    )
    assert seen == [(1, 0), (2, 0), (4, 2)]
