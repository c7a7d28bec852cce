"""What each policy chooses, worked by hand."""

from dataclasses import replace

import numpy as np
import pytest

from fallow.policies import EpochView, SlotView
from fallow.policies.fedavg import FedAvg
from fallow.policies.fedbacys import FedBacys
from fallow.policies.fedbacys_odd import FedBacysOdd
from fallow.policies.fullest_battery import FullestBattery
from fallow.policies.oldest import Oldest
from fallow.policies.random_k import RandomK
from fallow.policies.round_robin import RoundRobin
from fallow.policies.unlimited import Unlimited
from fallow.policies.vaoi import VAoI


def view(
    clients: int = 4, *, epoch: int = 0, slots: int = 30, battery=None, distance=None, delivered=None
) -> EpochView:
    return EpochView(
        epoch=epoch,
        clients=clients,
        slots_per_epoch=slots,
        battery=np.array(battery if battery is not None else [0] * clients, dtype=np.int32),
        capacity=np.full(clients, 25, dtype=np.int32),
        train_cost=np.full(clients, 20, dtype=np.int32),
        transmit_cost=1,
        training=np.zeros(clients, dtype=np.bool_),
        unsent=np.zeros(clients, dtype=np.bool_),
        distance=np.array(distance if distance is not None else [1.0] * clients, dtype=np.float32),
        delivered=np.array(delivered if delivered is not None else [False] * clients),
    )


def slot_view(slot: int, ready: np.ndarray, battery: int = 25) -> SlotView:
    level = np.full(ready.size, battery, dtype=np.int32)
    return SlotView(slot, level, ready, 30, np.full(ready.size, 20, dtype=np.int32), 1)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def chosen(mask: np.ndarray) -> list[int]:
    return np.flatnonzero(mask).tolist()


def test_vaoi_takes_the_oldest_and_ages_only_the_significant() -> None:
    policy = VAoI(k=1)
    state = replace(policy.init(4), age=np.array([1, 3, 2, 0], dtype=np.int32))
    state, mask = policy.select(state, view(distance=[0.6, 0.6, 0.4, 0.5]), rng())
    assert chosen(mask) == [1]
    assert state.age.tolist() == [2, 0, 2, 1]


def test_vaoi_reset_by_aggregation_forgets_only_what_was_received() -> None:
    policy = VAoI(k=1, reset="aggregated")
    state = replace(policy.init(3), age=np.array([1, 3, 2], dtype=np.int32))
    state, mask = policy.select(state, view(3, delivered=[False, True, False]), rng())
    assert chosen(mask) == [2]
    assert state.age.tolist() == [2, 1, 3]


def test_vaoi_breaks_ties_afresh_each_epoch() -> None:
    policy = VAoI(k=2)
    picks = {tuple(chosen(policy.select(policy.init(6), view(6), rng(seed))[1])) for seed in range(40)}
    assert len(picks) > 8


def test_vaoi_with_every_change_significant_visits_all_before_anyone_twice() -> None:
    policy, state, seen = VAoI(k=2), VAoI(k=2).init(6), []
    for epoch in range(6):
        state, mask = policy.select(state, view(6, epoch=epoch), rng(epoch))
        seen += chosen(mask)
    assert sorted(seen[:6]) == list(range(6))
    assert sorted(seen[6:]) == list(range(6))


def test_oldest_ignores_significance() -> None:
    policy = Oldest(k=1)
    state = replace(policy.init(3), age=np.array([0, 2, 1], dtype=np.int32))
    state, mask = policy.select(state, view(3, distance=[0, 0, 0]), rng())
    assert chosen(mask) == [1]
    assert state.age.tolist() == [1, 0, 2]


def test_fedavg_and_unlimited_select_everyone() -> None:
    assert FedAvg().select(None, view(3), rng())[1].all()
    assert Unlimited().select(None, view(3), rng())[1].all()


def test_random_k_selects_k_and_everyone_equally_often() -> None:
    counts = sum(RandomK(k=2).select(None, view(5), rng(seed))[1].astype(int) for seed in range(5000))
    assert counts.sum() == 10_000
    assert counts == pytest.approx(2000, abs=175)  # five standard deviations


def test_round_robin_wraps_around() -> None:
    policy = RoundRobin(k=3)
    state, first = policy.select(policy.init(4), view(4), rng())
    state, second = policy.select(state, view(4), rng())
    assert chosen(first) == [0, 1, 2]
    assert chosen(second) == [0, 1, 3]
    assert state.first == 2


def test_round_robin_with_more_turns_than_clients_takes_all_once() -> None:
    state, mask = RoundRobin(k=9).select(RoundRobin(k=9).init(4), view(4), rng())
    assert chosen(mask) == [0, 1, 2, 3]
    assert state.first == 0


def test_fullest_battery_selects_by_energy() -> None:
    assert chosen(FullestBattery(k=2).select(None, view(battery=[3, 9, 1, 7]), rng())[1]) == [1, 3]


def test_fedbacys_gives_the_fullest_group_the_first_slot() -> None:
    # S − κ = 10 and G = 5: groups start in slots 0, 2, 4, 6, 8.
    policy = FedBacys()
    state, mask = policy.select(policy.init(5), view(5, battery=[10, 30, 20, 50, 40]), rng())
    assert mask.all()
    assert state.group.tolist() == [4, 2, 3, 0, 1]
    assert state.start_slot.tolist() == [8, 4, 6, 0, 2]


def test_fedbacys_in_an_epoch_shorter_than_a_training_starts_in_the_first_slot() -> None:
    policy = FedBacys(grouping="fixed")
    state, _ = policy.select(policy.init(5), view(5, slots=12), rng())
    assert state.start_slot.tolist() == [0, 0, 0, 0, 0]


def test_fedbacys_starts_at_its_slot_or_not_at_all() -> None:
    policy = FedBacys(groups=2, grouping="fixed")
    state, _ = policy.select(policy.init(4), view(4), rng())
    ready = np.array([True, True, False, True])
    starts = {slot: chosen(policy.start(state, slot_view(slot, ready))[1]) for slot in range(30)}
    assert {slot: who for slot, who in starts.items() if who} == {0: [0], 5: [1, 3]}


def test_fedbacys_across_epochs_gives_one_group_an_epoch_and_sorts_once_a_cycle() -> None:
    policy = FedBacys(groups=2, turns="across-epochs")
    state, first = policy.select(policy.init(4), view(4, battery=[1, 4, 2, 3]), rng())
    state, second = policy.select(state, view(4, epoch=1, battery=[9, 0, 0, 0]), rng())
    assert chosen(first) == [1, 3]
    assert chosen(second) == [0, 2]
    assert state.start_slot.tolist() == [9, 9, 9, 9]  # 30 − 1 − 20: the upload falls in the last slot


def test_fedbacys_odd_takes_the_first_and_third_chance() -> None:
    policy = FedBacysOdd(groups=1)
    state = policy.init(2)
    taken = []
    for epoch, ready in enumerate([[True, False], [True, True], [False, True], [True, True]]):
        state, _ = policy.select(state, view(2, epoch=epoch), rng())
        slot = slot_view(0, np.array(ready))
        state, mask = policy.start(state, slot)
        taken.append(chosen(mask))
    assert taken == [[0], [1], [], [0, 1]]
    assert state.met.tolist() == [3, 3]
