"""The reserve, by hand, in the world, and through every door."""

from dataclasses import replace

import numpy as np
import pytest

from fallow.errors import ConfigError
from fallow.experiment import Experiment
from fallow.policies import VAoI
from fallow.policies.fedbacys import FedBacys
from fallow.policies.reserve import Reserve, Reserving
from fallow.simulation.engine import Engine
from tests.policies.views import chosen, slot_view


def test_a_client_starts_with_the_energy_to_send_and_in_time() -> None:
    # κ = 20, an upload 1, S = 30: with 21 units, in the slots 0 to 9.
    ready = np.array([True, False])
    starts = [slot for slot in range(30) if chosen(Reserve().start(None, slot_view(slot, ready, battery=21))[1])]
    assert starts == list(range(10))
    assert not Reserve().start(None, slot_view(0, ready, battery=20))[1].any()


def test_under_the_reserve_no_update_is_late_and_none_costs_more() -> None:
    settings = {"clients": 40, "epochs": 200, "energy": {"p": 0.05}}
    greedy = list(Engine(Experiment(policy="fedavg", **settings)))
    reserve = list(Engine(Experiment(policy="reserve", **settings)))
    assert sum(record.stale_uploads for record in greedy) > 0
    assert sum(record.stale_uploads for record in reserve) == 0
    assert sum(record.uploads for record in reserve) == sum(record.starts for record in reserve)
    assert reserve[-1].energy_total == 21 * sum(record.uploads for record in reserve)


def test_the_reserve_goes_with_any_selection_and_narrows_its_start() -> None:
    policy = Reserving(FedBacys(groups=1, grouping="fixed", turns="across-epochs"))
    ready = np.array([True])
    view = slot_view(9, ready, battery=20)
    state = policy.of.init(1)
    state = replace(state, start_slot=np.array([9], dtype=np.int32), slots=np.array([1], dtype=np.int32))
    assert chosen(policy.of.start(state, view)[1]) == [0]
    assert chosen(policy.start(state, view)[1]) == []
    assert chosen(policy.start(state, slot_view(9, ready, battery=21))[1]) == [0]


def test_python_and_toml_mean_the_same() -> None:
    by_object = Experiment(policy=Reserving(VAoI(k=5)))
    assert by_object == Experiment(policy={"name": "vaoi", "k": 5, "reserve": True})
    assert by_object.build("policy") == Reserving(VAoI(k=5))
    assert Experiment.from_toml(by_object.to_toml()) == by_object


def test_a_reserve_that_nobody_can_have_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"cost.train = 20 of client 0 leaves none of 20 to send in"):
        Experiment(policy="reserve", slots_per_epoch=20)
    with pytest.raises(ConfigError, match=r"21 units, and battery.capacity = 20 of client 0 is less"):
        Experiment(policy={"name": "vaoi", "reserve": True}, battery={"capacity": 20})
