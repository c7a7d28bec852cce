"""A larger battery or panel never has fewer trainings; and where a loss, a level or a price of its own breaks this.

Why it holds: what a slot does to a stored charge never reverses the order of two charges, and never puts them further
apart. So, by induction over trainings and uploads, the larger device does each of them no later, and has no less left
when both have done the same. A slot is a day here, and a round has ten.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.planning.nodes import live_with, make_node, write_trace

DAY = 86_400.0
COARSE = {"slot_seconds": DAY, "round_hours": 240.0}
PANELS = [0.3, 0.5, 0.9, 1.0, 1.7, 2.0]


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    costs=st.tuples(st.integers(1, 12), st.integers(0, 4), st.integers(1, 3), st.integers(1, 3)),
    idle=st.sampled_from([0.0, 0.4, 1.0]),
    efficiency=st.sampled_from([1.0, 0.83]),
    policy=st.sampled_from(["greedy", "reserve"]),
    selected=st.sampled_from([1.0, 0.6]),
    most=st.integers(0, 2),
    sizes=st.lists(st.tuples(st.integers(1, 30), st.sampled_from(PANELS)), min_size=2, max_size=4),
)
def test_a_larger_battery_or_panel_never_has_fewer_trainings(
    seed, costs, idle, efficiency, policy, selected, most, sizes
) -> None:
    train, send, train_slots, send_slots = costs
    device = {"train_joules": float(train), "transmit_joules": float(send), "idle_watts": idle / DAY}
    device |= {"train_seconds": train_slots * DAY, "transmit_seconds": send_slots * DAY, "efficiency": efficiency}
    rule = {"name": policy, "selected": selected, "starts_per_round": most}
    node = make_node({"p": 0.8}, device, seed=seed, policy=rule, **COARSE)
    batteries, panels = sorted({float(size) for size, _ in sizes}), sorted({size for _, size in sizes})
    starts = live_with(node, *((battery, panel) for battery in batteries for panel in panels)).starts.sum(axis=(1, 2))
    table = starts.reshape(len(batteries), len(panels))
    assert (np.diff(table, axis=0) >= 0).all()
    if efficiency == 1:  # see below
        assert (np.diff(table, axis=1) >= 0).all()


def trainings(path: Path, days: list[int], device: dict[str, float], sizes: Any, **changes: Any) -> list[int]:
    """The trainings of a year whose days are repeated, with each (battery in joules, panel)."""
    node = make_node(write_trace(path / "days.csv", days), device, **COARSE | changes)
    counted: list[int] = live_with(node, *sizes).starts.sum(axis=(1, 2)).tolist()
    return counted


def test_a_cut_off_is_a_share_of_the_battery_so_a_larger_one_is_filled_first(tmp_path: Path) -> None:
    # A unit a day, 3 units a training. With a cut-off of 5 the first starts with 8 units, on the 8th day, and with one
    # of 10 on the 13th; then one starts every three days, of 360 in whole rounds.
    device = {"train_joules": 3.0, "transmit_joules": 0.0, "cutoff": 0.5}
    found = trainings(tmp_path, [1], device, [(10.0, 1.0), (20.0, 1.0)])
    assert found == [(360 - 8) // 3 + 1, (360 - 13) // 3 + 1] == [118, 116]


def test_who_sleeps_saves_its_idle_drain_so_a_smaller_panel_can_be_ahead(tmp_path: Path) -> None:
    device = {"train_joules": 5.0, "transmit_joules": 0.0, "cutoff": 0.2, "idle_watts": 1 / DAY}
    days = [3, 0, 5, 5, 5, 2, 3, 3, 0, 3, 3]
    assert trainings(tmp_path, days, device, [(8.0, 1.5), (8.0, 3.0)]) == [130, 127]


def test_a_larger_battery_wakes_later_because_the_level_is_a_share_of_it(tmp_path: Path) -> None:
    device = {"train_joules": 5.0, "transmit_joules": 2.0, "cutoff": 0.2, "wake": 0.6, "self_discharge": 0.13}
    days = [3, 3, 1, 1, 0, 0, 0, 1, 4, 3, 5, 3]
    assert trainings(tmp_path, days, device, [(16.0, 1.0), (25.0, 1.0)]) == [60, 47]


def test_who_has_more_can_pay_for_listening_when_nothing_comes_of_it(tmp_path: Path) -> None:
    device = {"train_joules": 3.0, "transmit_joules": 2.0, "listen_joules": 1.0}
    days = [0, 2, 0, 5, 5, 0, 4, 4]
    assert trainings(tmp_path, days, device, [(19.0, 1.0), (31.0, 1.0)]) == [169, 168]


def test_trainings_in_more_rounds_take_more_downloads(tmp_path: Path) -> None:
    device = {"train_joules": 3.0, "transmit_joules": 0.0, "download_joules": 1.0}
    assert trainings(tmp_path, [0, 2, 2, 2], device, [(4.0, 1.0625), (4.0, 1.125)]) == [164, 162]


@pytest.mark.parametrize(
    ("loss", "train", "days", "sizes", "coarse"),
    [
        ({"efficiency": 0.6}, 4.0, [1, 1, 0, 2, 2, 2, 0], [(4.0, 1.1875), (4.0, 1.25)], [69, 68]),
        (
            {"self_discharge": 0.13},
            2.0,
            [0, 0, 0, 0, 4, 3, 2, 1, 5, 2, 4, 2, 1],
            [(8.0, 1.0), (8.0, 1.25)],
            [176, 174],
        ),
    ],
)
def test_fractions_of_a_unit_that_losses_carry_can_put_a_larger_panel_behind_until_the_unit_is_small(
    loss, train, days, sizes, coarse, tmp_path: Path
) -> None:
    device = {"train_joules": train, "transmit_joules": 0.0, **loss}
    assert trainings(tmp_path, days, device, sizes) == coarse
    smaller, larger = trainings(tmp_path, [1000 * day for day in days], device, sizes, unit_joules=0.001)
    assert larger >= smaller
