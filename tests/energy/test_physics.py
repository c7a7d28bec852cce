"""The numbers of devices: given once or client by client, and refused where they can't work."""

from typing import Any

import numpy as np
import pytest

from fallow.energy import Physics
from fallow.energy.fixed_point import Drains, SmallShares, fixed_shares, whole_part
from fallow.errors import ConfigError
from fallow.experiment import Experiment


def physics(**settings: Any) -> Physics:
    experiment = Experiment(clients=3, policy=settings.pop("policy", "fedavg"), **settings)
    return experiment.build_physics(experiment.build("policy"))


def test_the_papers_devices_have_nothing_more() -> None:
    found = physics()
    assert (found.extended, found.long_uploads, found.pays_probes) == (False, False, False)
    assert found.train_slots.tolist() == [20, 20, 20]
    assert found.transmit_slots.tolist() == found.transmit_cost.tolist() == [1, 1, 1]


def test_one_number_takes_no_memory_and_a_list_has_one_for_each_client() -> None:
    found = physics(battery={"idle": 0.5, "efficiency": [1.0, 0.9, 0.8]}, cost={"listen": [0, 1, 0]})
    assert (found.idle.strides, found.efficiency.tolist()) == ((0,), [1.0, 0.9, 0.8])
    assert (found.listens, found.idles, found.converts, found.leaks) == (True, True, True, False)
    assert found.of_client(1).efficiency.tolist() == [0.9]
    assert not found.of_client(0).listens


def test_zero_stands_for_as_many_slots_as_units_and_for_the_cutoff() -> None:
    found = physics(cost={"train": [4, 5, 6], "train_slots": [0, 9, 0]}, battery={"cutoff": 2, "wake": [0, 3, 0]})
    assert (found.train_slots.tolist(), found.wake.tolist()) == ([4, 9, 6], [2, 3, 2])


def test_a_probe_costs_only_where_the_policy_makes_one() -> None:
    assert physics(cost={"probe": 2}).probe_cost.tolist() == [0, 0, 0]
    asked = physics(cost={"probe": 2}, policy={"name": "vaoi", "k": 1})
    assert (asked.probe_cost.tolist(), asked.probes) == ([2, 2, 2], True)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"battery": {"cutoff": 10}},
            "cost.train = 20 is above the 15 units that battery.capacity = 25 leaves with battery.cutoff = "
            "10, so nobody "
            "can ever train; raise the capacity or lower cost.train.",
        ),
        (
            {"battery": {"idle": [0.0, 0.0, 6.5]}},
            "cost.train = 20 is above the 19 units that battery.capacity = 25 leaves with battery.idle = "
            "6.5, so client 2 "
            "can't ever train; raise the capacity or lower cost.train.",
        ),
        (
            {"cost": {"download": 6}},
            "cost.train + cost.download = 26 is above battery.capacity = 25, so nobody can ever train; "
            "raise the capacity "
            "or lower cost.train + cost.download.",
        ),
        (
            {"cost": {"probe": 20, "download": 6}, "policy": {"name": "vaoi", "k": 1}},
            "cost.probe + cost.download = 26 is above battery.capacity = 25, so nobody can ever make a "
            "probe; raise the "
            "capacity or lower cost.probe + cost.download.",
        ),
        (
            {"cost": {"listen": 26}},
            "cost.listen = 26 is above battery.capacity = 25, so nobody can ever hear the server; raise the "
            "capacity or "
            "lower cost.listen.",
        ),
        (
            {"battery": {"cutoff": 2, "wake": 26}},
            "battery.wake = 26 is above battery.capacity = 25, so nobody can wake up again once it sleeps; raise the "
            "capacity or lower battery.wake.",
        ),
        (
            {"battery": {"cutoff": 4, "wake": 3}},
            "battery.wake = 3 of client 0 is below battery.cutoff = 4, so it would fall asleep as it wakes; raise "
            "battery.wake, or set it to 0, which is the cut-off.",
        ),
        ({"battery": {"efficiency": 0.0}}, "battery.efficiency = 0.0 must be more than 0.0."),
        ({"battery": {"self_discharge": 1.0}}, "battery.self_discharge = 1.0 must be less than 1.0."),
        ({"battery": {"idle": -1.0}}, "battery.idle = -1.0 must be at least 0.0."),
        ({"cost": {"transmit_slots": 0}}, "cost.transmit_slots = 0 must be at least 1."),
        (
            {"cost": {"transmit_slots": 11}, "policy": "reserve"},
            "With the reserve an update arrives in the epoch of its training, and cost.train = 20 and "
            "cost.transmit_slots = 11 of client 0 do not fit in 30 slots; raise slots_per_epoch, or choose a policy "
            "without reserve.",
        ),
    ],
)
def test_what_can_never_work_is_one_sentence_before_a_run(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        physics(**settings)
    assert str(caught.value) == sentence


def test_a_policy_without_limits_asks_nothing_of_a_battery() -> None:
    assert physics(policy="unlimited", battery={"cutoff": 30}, cost={"download": 99}).ideal


@pytest.mark.parametrize("share", [0.9, 0.1, 1 / 3, 0.5, 1.0, 1e-9])
def test_a_share_of_many_units_is_right_to_the_last_one(share: float) -> None:
    units = np.array([0, 1, 7, 10**9, 10**12 + 3], dtype=np.int64)
    (fixed,) = fixed_shares(np.array([share])).tolist()
    assert fixed / 2**32 == pytest.approx(share, abs=2.0**-32)
    assert whole_part(units, np.full(5, fixed)).tolist() == [int(unit) * fixed >> 32 for unit in units]


@pytest.mark.parametrize("share", [0.999, 0.3, 1e-3, 1e-8, 1e-17, 0.0])
def test_a_tiny_share_keeps_32_significant_bits(share: float) -> None:
    small = SmallShares.of(np.array([share]))
    kept = int(small.factor[0]) / 2.0 ** (32 + int(small.shift[0]))
    assert share <= kept <= share * (1 + 2**-31) + 2**-62


def test_drains_of_clients_that_differ_are_due_class_by_class() -> None:
    drains = Drains.of(np.array([0.5, 2.0, 0.5]))
    due = np.array([drains.due(slot)[drains.member] for slot in range(4)])
    assert due.tolist() == [[0, 2, 0], [1, 2, 1], [0, 2, 0], [1, 2, 1]]
    late = 2**31 - 2
    assert Drains.of(np.array([0.1])).due(late).tolist() in ([0], [1])
