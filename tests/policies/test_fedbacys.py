"""FedBacys and FedBacys-Odd: groups, windows and chances, worked by hand."""

import numpy as np
import pytest

from fallow.errors import ConfigError
from fallow.experiment import Experiment
from fallow.policies import FedBacys, FedBacysOdd
from tests.policies.views import chosen, rng, slot_view, view

EVERYONE = np.ones(5, dtype=np.bool_)


def slots_of(policy: FedBacys, clients: int = 5) -> list[list[int]]:
    """The slots in which each client, always ready, would be let start."""
    state, _ = policy.select(policy.init(clients), view(clients), rng())
    starts = {slot: chosen(policy.start(state, slot_view(slot, np.ones(clients, bool)))[1]) for slot in range(30)}
    return [[slot for slot, who in starts.items() if client in who] for client in range(clients)]


def test_the_windows_of_the_papers_world() -> None:
    # S = 30, κ = 20, G = 5, R = 6: g·6 ≤ (s + 20) mod 30 < g·6 + 5.
    assert slots_of(FedBacys(grouping="fixed")) == [
        [10, 11, 12, 13, 14],
        [16, 17, 18, 19, 20],
        [22, 23, 24, 25, 26],
        [0, 1, 2, 28, 29],
        [4, 5, 6, 7, 8],
    ]


def test_a_window_is_never_empty() -> None:
    # S = 30, G = 30: R = 1, and the printed window has R − 1 = 0 slots. Group g gets the slot with (s + 20) mod 30 = g.
    assert slots_of(FedBacys(groups=30, grouping="fixed"), 3) == [[10], [11], [12]]


def test_groups_by_battery_fullest_first_and_everyone_is_selected() -> None:
    state, mask = FedBacys().select(FedBacys().init(5), view(5, battery=[10, 30, 20, 50, 40]), rng())
    assert mask.all()
    assert state.group.tolist() == [4, 2, 3, 0, 1]
    assert state.start_slot.tolist() == [4, 22, 28, 10, 16]


def test_a_deadline_gives_the_fullest_group_the_first_slot() -> None:
    # S − κ = 10 and G = 5: groups start in slots 0, 2, 4, 6, 8.
    policy = FedBacys(turns="deadline")
    state, mask = policy.select(policy.init(5), view(5, battery=[10, 30, 20, 50, 40]), rng())
    assert mask.all()
    assert state.start_slot.tolist() == [8, 4, 6, 0, 2]
    assert slots_of(FedBacys(turns="deadline", grouping="fixed")) == [[0], [2], [4], [6], [8]]


def test_a_deadline_in_an_epoch_shorter_than_a_training_is_the_first_slot() -> None:
    policy = FedBacys(grouping="fixed", turns="deadline")
    state, _ = policy.select(policy.init(5), view(5, slots=12), rng())
    assert state.start_slot.tolist() == [0, 0, 0, 0, 0]


def test_at_a_deadline_a_client_starts_or_not_at_all() -> None:
    policy = FedBacys(groups=2, grouping="fixed", turns="deadline")
    state, _ = policy.select(policy.init(4), view(4), rng())
    ready = np.array([True, True, False, True])
    starts = {slot: chosen(policy.start(state, slot_view(slot, ready))[1]) for slot in range(30)}
    assert {slot: who for slot, who in starts.items() if who} == {0: [0], 5: [1, 3]}


def test_across_epochs_one_group_has_an_epoch_and_groups_are_sorted_once_a_cycle() -> None:
    policy = FedBacys(groups=2, turns="across-epochs")
    state, first = policy.select(policy.init(4), view(4, battery=[1, 4, 2, 3]), rng())
    state, second = policy.select(state, view(4, epoch=1, battery=[9, 0, 0, 0]), rng())
    assert chosen(first) == [1, 3]
    assert chosen(second) == [0, 2]
    assert state.start_slot.tolist() == [9, 9, 9, 9]  # 30 − 1 − 20: the upload falls in the last slot


def test_odd_takes_the_first_and_third_chance() -> None:
    policy = FedBacysOdd(groups=1, turns="deadline")
    state = policy.init(2)
    taken = []
    for epoch, ready in enumerate([[True, False], [True, True], [False, True], [True, True]]):
        state, _ = policy.select(state, view(2, epoch=epoch), rng())
        state, mask = policy.start(state, slot_view(0, np.array(ready)))
        taken.append(chosen(mask))
    assert taken == [[0], [1], [], [0, 1]]
    assert state.met.tolist() == [3, 3]


def odd_starts(epochs: int, ready_from: int) -> tuple[dict[int, list[int]], list[int]]:
    """The starts of five clients, ready in every slot from one on, by global slot; and how many chances they had."""
    policy = FedBacysOdd(grouping="fixed")
    state, starts = policy.init(5), {}
    for epoch in range(epochs):
        state, _ = policy.select(state, view(5, epoch=epoch), rng())
        for slot in range(30):
            ready = EVERYONE & (30 * epoch + slot >= ready_from)
            state, mask = policy.start(state, slot_view(slot, ready))
            if mask.any():
                starts[30 * epoch + slot] = chosen(mask)
    return starts, state.met.tolist()


def test_odd_counts_one_chance_a_window_however_many_slots_it_has() -> None:
    starts, met = odd_starts(epochs=2, ready_from=3)
    # The first windows: 10, 16, 22, 28 (to 32) and 4. The second ones, 34 to 52 and 58, are skipped in all their slots.
    assert starts == {4: [4], 10: [0], 16: [1], 22: [2], 28: [3]}
    assert met == [2, 2, 2, 2, 2]


def test_odd_counts_a_window_over_the_edge_of_an_epoch_once() -> None:
    starts, met = odd_starts(epochs=2, ready_from=0)
    assert starts[0] == [3]  # the window that would have begun two slots before the run
    assert met == [2, 2, 2, 3, 2]  # 3: from −2, from 28 (skipped, also in slots 30 to 32), from 58
    assert starts[58] == [3]


def test_the_old_name_of_a_rule_says_the_new_one() -> None:
    with pytest.raises(ConfigError, match=r"policy\.turns = 'within-epoch' is called 'deadline' now.*'window'\."):
        Experiment.parse({"policy": {"name": "fedbacys-odd", "turns": "within-epoch"}})


def test_many_groups_in_long_epochs_do_not_overflow_32_bits() -> None:
    slots = 60_000
    policy = FedBacys(groups=60_000, grouping="fixed", turns="deadline")
    group = np.array([0, 59_999], dtype=np.int32)
    start_slot, _ = policy._start_slots(group, slots, np.array([1, 1], dtype=np.int32))
    assert start_slot.tolist() == [0, 59_998]  # 59,999 · 59,999 ÷ 60,000, beyond 2³¹ before it is divided
    assert start_slot.dtype == np.int32
