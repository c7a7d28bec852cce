import sys
from dataclasses import dataclass

import numpy as np
import pytest

from fallow.errors import PolicyError
from fallow.experiment import Experiment
from fallow.policies import POLICIES
from fallow.simulation.engine import Engine
from fallow.simulation.events import Event
from fallow.simulation.records import with_ages


def experiment(**settings) -> Experiment:
    return Experiment.parse({"epochs": 20, "clients": 12, "policy": {"k": 3}} | settings)


def harvest_of(policy: str) -> list[int]:
    chosen = experiment(policy={"name": policy, "k": 3}, energy={"p": 0.4})
    return [record.harvested for record in Engine(chosen)]


def test_every_policy_meets_the_same_harvest() -> None:
    assert len({tuple(harvest_of(policy)) for policy in POLICIES}) == 1


def test_same_config_and_seed_same_records_and_another_seed_differs() -> None:
    first, again, other = (
        [record.row() for record in Engine(experiment(seed=seed, energy={"p": 0.4}))] for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


@pytest.mark.parametrize("policy", POLICIES)
def test_the_energy_of_every_epoch_is_accounted_for(policy: str) -> None:
    engine = Engine(experiment(policy={"name": policy, "k": 3}, energy={"p": 0.7}, cost={"probe": 2}))
    stored = total = 0
    for record in engine:
        consumed = record.consumed_train + record.consumed_tx + record.consumed_probe
        total += consumed
        assert record.harvested == consumed + record.overflow + record.stored - stored
        assert record.energy_total == total
        stored = record.stored
    assert (total == 0) == (policy == "unlimited")


def test_only_policies_that_probe_pay_for_it() -> None:
    paying = {
        policy
        for policy in POLICIES
        if sum(r.consumed_probe for r in Engine(experiment(policy={"name": policy, "k": 3}, cost={"probe": 1})))
    }
    assert paying == {"vaoi", "vaoi-parameters", "power-of-choice"}


def test_significance_zero_stops_ages_from_growing() -> None:
    ages = [r.mean_age_delivered for r in Engine(experiment(learning={"significance": 0.0}))]
    assert ages == [0.0] * 20


def test_mean_ages_of_nobody_training_grow_by_one_an_epoch() -> None:
    records = list(Engine(experiment(energy={"p": 0.0}, policy={"name": "fedavg"})))
    assert [r.mean_age_delivered for r in records] == list(range(1, 21))
    assert [r.mean_age_selected for r in records] == [0.0] * 20


def test_events_can_be_turned_off() -> None:
    assert all(not r.events for r in Engine(experiment(output={"events": False})))
    assert any(r.events for r in Engine(experiment()))


def test_what_ages_hang_on_stands_where_it_happened() -> None:
    nobody, some = np.array([], dtype=int), np.array([2, 5])
    late = np.array([1, 0], dtype=np.int32)
    world = [Event("upload", 30, some, late), Event("select", 30, some), Event("upload", 41, some, late)]
    told = with_ages(world, np.array([0, 1]), {41: [5]})
    assert [(kind, slot, who.tolist()) for kind, slot, who, _ in told] == [
        ("upload", 30, [2, 5]),
        ("keep", 30, [0, 1]),
        ("select", 30, [2, 5]),
        ("upload", 41, [2, 5]),
        ("drop", 41, [5]),
    ]
    assert with_ages(world, nobody, {}) == world


def test_turning_events_off_changes_nothing_else() -> None:
    rows = [[r.row() for r in Engine(experiment(output={"events": events}))] for events in (True, False)]
    assert rows[0] == rows[1]


def test_a_users_policy_that_raises_is_named_with_the_line() -> None:
    with pytest.raises(PolicyError, match=r"failed in select, epoch 0: AttributeError.*test_check\.py, line \d+"):
        list(Engine(experiment(policy={"name": "tests.policies.test_check:Crash"})))


def test_a_users_policy_that_returns_the_wrong_shape_is_told_so() -> None:
    with pytest.raises(PolicyError, match=r"shape \(13,\)"):
        list(Engine(experiment(policy={"name": "tests.policies.test_check:WrongShape"})))


def test_a_policy_sees_copies_that_stay_as_they_were() -> None:
    engine = Engine(experiment(energy={"p": 1.0}))
    views = []
    select = engine.policy.select
    object.__setattr__(engine.policy, "select", lambda s, view, rng: views.append(view) or select(s, view, rng))
    engine.step()
    seen = views[0].battery.copy()
    engine.step()
    assert np.array_equal(views[0].battery, seen)
    assert not views[0].battery.flags.writeable


@dataclass(frozen=True)
class Exits:
    def init(self, clients):
        return None

    def select(self, state, view, rng):
        sys.exit(0)


@dataclass(frozen=True)
class TakesLess(Exits):
    def select(self, state):
        return state, None


def test_a_policy_that_ends_the_program_or_takes_other_arguments_is_told_so() -> None:
    with pytest.raises(PolicyError, match="failed in select, epoch 0: SystemExit"):
        next(iter(Engine(Experiment.parse({"policy": {"name": "tests.simulation.test_engine:Exits"}}))))
    with pytest.raises(PolicyError, match=r"positional argument.* \(tests.simulation.test_engine.py, line \d+\)\.$"):
        next(iter(Engine(Experiment.parse({"policy": {"name": "tests.simulation.test_engine:TakesLess"}}))))
