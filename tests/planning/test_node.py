from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fallow.energy import Bernoulli
from fallow.errors import ConfigError
from fallow.planning.node import Node, read_node
from fallow.planning.sizes import build_physics, choose_unit, count_costs
from tests.planning.nodes import make_node


def refusal(**changes: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        make_node(**changes)
    return str(caught.value)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"device": {"train_joules": -1.0}}, "device.train_joules = -1.0 must be more than 0."),
        ({"device": {"train_joules": "much"}}, "device.train_joules = 'much' must be a number."),
        ({"device": {"efficiency": 1.5}}, "device.efficiency = 1.5 must be at most 1."),
        ({"device": {"idle_wats": 1.0}}, "There is no setting 'device.idle_wats'; did you mean 'idle_watts'?"),
        ({"yaers": 3}, "There is no setting 'yaers'; did you mean 'years'?"),
        ({"years": 0}, "years = 0 must be at least 1."),
        ({"device": {"wake": 0.1, "cutoff": 0.2}}, "device.wake = 0.1 is below device.cutoff = 0.2"),
        ({"round_hours": 0.7}, "round_hours = 0.7 is 0.7 slots of 3600 s"),
        ({"unit_joules": 0.0}, "The energy model 'bernoulli' counts in units; set unit_joules"),
        ({"energy": {"model": "bernouli"}}, "did you mean 'bernoulli'?"),
        ({"energy": {"model": "trace", "path": "sun.csv", "end": "zeros"}}, "set it to 'repeat'."),
        ({"energy": {"p": 0.5, "correlation": 0.5}}, "energy.correlation = 0.5 is about several clients"),
        ({"wish": {"trainings_per_day": -1}}, "wish.trainings_per_day = -1 must be at least 0."),
        ({"wish": {"trainings_per_day": 1, "met_in": "winter"}}, "wish.met_in = 'winter' must be"),
        ({"policy": {"name": "vaoi"}}, "policy.name = 'vaoi' must be 'greedy' or 'reserve'"),
        ({"search": {"batteries": [0.0]}}, "search.batteries[0] = 0.0 must be more than 0."),
        ({"wish": {}}, "A node needs wish.trainings_per_day; set it."),
    ],
)
def test_a_wrong_setting_is_one_sentence(changes: dict[str, Any], sentence: str) -> None:
    assert sentence in refusal(**changes)


def test_a_missing_section_and_a_missing_file_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^A node needs device; set it, a section \[device\]\.$"):
        Node(wish={"trainings_per_day": 1}, unit_joules=1.0)
    with pytest.raises(ConfigError, match=r"nowhere\.toml can't be read: No such file or directory\.$"):
        read_node(tmp_path / "nowhere.toml", {})
    with pytest.raises(ConfigError, match=r"^The node can't be of the type int; give the path of a TOML file"):
        read_node(3, {})  # type: ignore[arg-type]


def test_a_table_settings_and_overrides_come_one_after_another() -> None:
    table = {"device": {"train_joules": 1, "capacity_joules": 2}, "wish": {"trainings_per_day": 1}, "unit_joules": 1}
    settings = {"energy": Bernoulli(p=0.25), "wish.trainings_per_day": 2, "years": 3}
    node = read_node(table, settings, ["years=4", "device.capacity_joules=5"])
    assert (node.years, node.wish.trainings_per_day, node.device.capacity_joules) == (4, 2, 5)
    assert node.model == Bernoulli(p=0.25)
    assert table["device"] == {"train_joules": 1, "capacity_joules": 2}


def test_costs_are_rounded_up_and_capacities_down() -> None:
    node = make_node(
        device={"train_joules": 1.25, "transmit_joules": 0.3, "train_seconds": 3601, "idle_watts": 0.001},
        unit_joules=0.1,
    )
    costs = count_costs(node, 0.1)
    assert (costs.train, costs.train_slots, costs.upload, costs.upload_slots) == (13, 2, 3, 1)
    assert costs.idle == pytest.approx(36.0)
    assert build_physics(node, costs, np.array([0.39, 0.3])).capacity.tolist() == [3, 3]


def test_the_unit_that_is_chosen_has_200_in_the_smallest_cost_and_the_largest_battery_fits() -> None:
    watts = make_node().model_copy(update={"unit_joules": 0.0})
    assert choose_unit(watts, most_joules=1000.0) == 0.005  # of an upload of 1 J
    assert choose_unit(watts, most_joules=1e9) == 10.0  # a battery of 10⁹ J in at most 10⁹ units, and to spare
    with pytest.raises(ConfigError, match="raise unit_joules"):
        choose_unit(make_node(unit_joules=0.001), most_joules=1e7)


def test_a_profile_and_a_radio_say_what_the_user_does_not() -> None:
    given = {"profile": "pi-zero-2w", "train_seconds": 100.0, "update_bytes": 1e6, "idle_watts": 0.1}
    device = Node(device=given, wish={"trainings_per_day": 1}, unit_joules=1.0).device
    assert device.idle_watts == 0.1
    assert device.train_joules == 200.0  # 2 W for 100 s
    assert device.transmit_joules == pytest.approx(8e6 * 3.135e-8)
    assert device.transmit_seconds == pytest.approx(8e6 / 2e7)
    assert device.capacity_joules > 10_000
    with pytest.raises(ConfigError, match=r"There is no device profile 'pi-zero'; did you mean 'pi-zero-2w'\?"):
        Node(device="pi-zero", wish={"trainings_per_day": 1}, unit_joules=1.0)
    with pytest.raises(ConfigError, match=r"^A node needs device\.train_joules; set it\.$"):
        Node(device="pi-zero-2w", wish={"trainings_per_day": 1}, unit_joules=1.0)
