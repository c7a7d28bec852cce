"""The answer of a plan: sizes worked out by hand, wishes that can't be granted, and what users get of it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fallow
from fallow.errors import ConfigError, EnergyError, RunDirectoryError
from fallow.planning.plan import plan
from tests.planning.nodes import DEVICE, write_trace

NOON = np.zeros(24, dtype=int)
NOON[12] = 44
"""A day with 44 units at noon: four trainings of 10 units and their uploads of 1."""


def ask(energy: Any, trainings_per_day: float = 4.0, device: Any = (), **settings: Any) -> Any:
    common = {"unit_joules": 1.0, "years": 1, "warm_up_days": 30, "progress": False}
    table = DEVICE | {"capacity_joules": 60.0} | dict(device)
    return plan(device=table, energy=energy, trainings_per_day=trainings_per_day, **common | settings)


@pytest.fixture
def noon(tmp_path: Path) -> dict[str, str]:
    return write_trace(tmp_path / "noon.csv", NOON)


def test_the_smallest_sizes_of_a_list_are_those_worked_out_by_hand(noon: dict[str, str]) -> None:
    # The battery is full at noon: 43 J are three trainings and 10 J for a fourth, which then can't be sent until the
    # next noon. The panel must give 44 J a day.
    found = ask(noon, batteries=[33.0, 42.0, 44.0, 50.0], panels=[0.5, 0.75, 0.875, 1.0, 2.0])
    assert (found.battery.size, found.battery.too_small, found.battery.reached) == (44.0, 42.0, 4.0)
    assert (found.panel.size, found.panel.too_small) == (1.0, 0.875)
    assert found.met
    assert found.curve.battery_joules.fillna(0).tolist() == [0, 0, 0, 44, 44]


def test_without_lists_the_sizes_are_found_to_within_a_few_percent(noon: dict[str, str]) -> None:
    found = ask(noon, device={"transmit_joules": 0.0})
    assert found.battery.too_small < 40 <= found.battery.size < 40 * 1.05
    assert found.panel.too_small < 40 / 44 <= found.panel.size < 40 / 44 * 1.05


def test_a_wish_on_average_is_granted_by_summer_alone(tmp_path: Path) -> None:
    summer = np.zeros((365, 24), dtype=int)
    summer[100:300, 12] = 44
    trace = write_trace(tmp_path / "summer.csv", summer.ravel())
    assert ask(trace, 2.0, met_in="on-average").met
    assert not ask(trace, 2.0, met_in="every-month").met


def test_no_harvest_in_winter_is_the_reason_that_is_given(tmp_path: Path) -> None:
    summer = np.zeros((365, 24), dtype=int)
    summer[59:334, 12] = 44
    found = ask(write_trace(tmp_path / "polar.csv", summer.ravel()), 4.0)
    assert found.battery.size is None
    assert "nothing is harvested in January, February and December" in found.sentences[1]
    assert [month.trainings_per_day for month in found.month_figures[:2]] == [0, 0]


@pytest.mark.parametrize(
    ("trainings_per_day", "device", "energy", "reason"),
    [
        (1e9, {}, {"p": 1.0}, "only 12 fit into a day, because each fills 1 and its upload 1 slots of 3600 s"),
        (10.0, {}, {"p": 0.01}, "and so many trainings take 110 J"),
        (1.0, {}, {"p": 0.0}, "nothing is harvested at all"),
        (1.0, {"idle_watts": 1.0}, {"p": 1.0}, "idle drain"),
    ],
)
def test_a_wish_that_nothing_grants_is_answered_with_a_reason(
    trainings_per_day: float, device: dict[str, float], energy: dict[str, float], reason: str
) -> None:
    found = ask(energy, trainings_per_day, device, batteries=[60.0, 600.0], panels=[1.0, 8.0])
    assert not found.met
    assert found.battery.size is found.panel.size is None
    assert found.sentences[1].startswith(f"No size that was tried grants {trainings_per_day:g} trainings a day")
    assert reason in found.sentences[1]


def test_a_device_that_can_never_train_is_told_so() -> None:
    found = ask({"p": 1.0}, 1.0, {"capacity_joules": 5.0}, batteries=[5.0, 9.0])
    assert "none can hold one training of 10 J above its cut-off, so the device can never train" in found.sentences[1]


def test_a_wish_of_nothing_is_granted_by_the_smallest_size() -> None:
    found = ask({"p": 0.1}, 0)
    assert found.met
    assert found.battery.size == pytest.approx(10.0)
    assert found.sentences[1].endswith("stores 10 J, which holds just one training.")


def test_the_spread_over_years_is_that_of_the_years() -> None:
    found = ask({"p": 0.5}, 1.0, years=30, batteries=[60.0], panels=[1.0])
    january = found.month_figures[0]
    assert january.low < january.trainings_per_day < january.high
    # 744 slots of p = ½ and 11 units a training: sd of a month's trainings is √(744/4)/11 ≈ 1.24
    assert january.high - january.low == pytest.approx(2 * 1.645 * 1.24 / 31, rel=0.5)
    assert sum(way.units for way in found.energy) == pytest.approx(
        found.year.harvest_joules_per_day * 365 * 30, rel=1e-12
    )


def test_what_was_found_is_written_as_data_table_and_picture(noon: dict[str, str], tmp_path: Path) -> None:
    found = ask(noon, batteries=[33.0, 44.0], panels=[1.0, 2.0], out=tmp_path / "out")
    document = json.loads((tmp_path / "out" / "plan.json").read_text())
    assert document == json.loads(json.dumps(found.document()))
    assert document["smallest_battery"] == {"size": 44.0, "too_small": 33.0, "reached": 4.0}
    assert document["node"]["energy"]["path"] == noon["path"]
    assert (tmp_path / "out" / "plan.csv").read_text().splitlines() == [
        "panel,battery_joules,trainings_per_day,worst_month,met",
        "1.0,60.0,4.0,4.0,True",
        "1.0,33.0,3.0,3.0,False",
        "1.0,44.0,4.0,4.0,True",
        "2.0,33.0,3.0,3.0,False",
        "2.0,44.0,4.0,4.0,True",
        "2.0,60.0,5.0,5.0,True",
    ]
    assert (tmp_path / "out" / "plan.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["plan.csv", "plan.json", "plan.png"]


def test_python_users_get_frames_a_figure_and_a_notebook_view(noon: dict[str, str]) -> None:
    found = ask(noon, batteries=[44.0], panels=[1.0])
    assert list(found.months.month) == [*(month.month for month in found.month_figures)]
    assert found.table().met.all()
    assert len(found.plot().axes) == 5
    assert "4 trainings a day" in found._repr_html_()
    assert repr(found) == "Plan(4 trainings a day, 4 wished: granted; 1 years)"
    assert fallow.plan is plan


def test_a_place_that_can_t_be_written_to_is_one_sentence_before_the_work(tmp_path: Path, noon: dict[str, str]) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunDirectoryError, match=r"is a file; choose another out"):
        ask(noon, out=tmp_path / "file" / "out")
    with pytest.raises(RunDirectoryError, match="is neither a run nor the folder of a sweep"):
        ask(noon, runs=tmp_path)
    with pytest.raises(ConfigError, match="There is no setting 'batterie'"):
        ask(noon, batterie=[1.0])


def test_a_unit_of_our_choice_grows_until_the_best_slot_of_the_largest_panel_fits() -> None:
    tiny = {"train_joules": 0.1, "transmit_joules": 0.0, "capacity_joules": 1.0}
    sun = {"model": "solar", "area": 0.02}
    coarse = {"slot_seconds": 86_400.0, "round_hours": 240.0, "unit_joules": 0.0}
    found = ask(sun, 0.1, tiny, batteries=[1.0], panels=[1.0, 8.0], **coarse)
    assert found.scale.unit_joules == 0.005  # ten times that of the costs: a day of 10⁵ J, eight times, fits
    with pytest.raises(EnergyError, match="1000000000"):
        ask(sun, 0.1, tiny, batteries=[1.0], panels=[1.0, 8.0], **coarse | {"unit_joules": 1e-6})
