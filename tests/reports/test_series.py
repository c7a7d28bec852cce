from pathlib import Path

import numpy as np
import pytest

from fallow.reports.figures import draw_figures
from fallow.reports.runs import read_runs
from fallow.reports.series import age_series, as_numbers, band, score_series, thin
from tests.reports.made_runs import live, make_up


def test_few_points_all_stay() -> None:
    assert thin(4, 4).tolist() == [0, 1, 2, 3]


def test_many_points_are_thinned_evenly_with_the_first_and_the_last() -> None:
    kept = thin(1_000, 300)
    assert (len(kept), kept[0], kept[-1]) == (300, 0, 999)
    assert set(np.diff(kept).tolist()) == {3, 4}


def test_numbers_are_short() -> None:
    assert as_numbers([0.123456789, 3.0, float("nan"), 123456.7]) == [0.12346, 3, None, 123460]


def test_long_runs_have_at_most_300_points(tmp_path: Path) -> None:
    (run,), _ = read_runs([make_up(tmp_path / "run", epochs=2_000)])
    ages, score = age_series(run), score_series(run)
    assert score is not None
    assert {len(column) for column in ages.values()} == {300}
    assert {len(column) for column in score.values()} == {300}
    assert ages["epoch"][-1] == score["epoch"][-1] == 1_999
    assert score["energy"][-1] == 2_000 * 210


def test_an_energy_only_run_has_no_scores(tmp_path: Path) -> None:
    (run,), _ = read_runs([live(tmp_path / "run")])
    assert score_series(run) is None


def test_a_band_is_the_mean_and_the_range() -> None:
    x = np.array([0.0, 1.0])
    made = band([(x, np.array([1.0, 2.0])), (x, np.array([3.0, 6.0]))])
    assert made.tolist() == [[0, 1], [2, 4], [1, 2], [3, 6]]


def test_curves_that_do_not_share_their_x_meet_where_all_reach() -> None:
    made = band([(np.array([0.0, 4.0]), np.array([0.0, 4.0])), (np.array([1.0, 3.0]), np.array([3.0, 5.0]))], points=3)
    assert made[0].tolist() == [1, 2, 3]
    assert made[1].tolist() == pytest.approx([2, 3, 4])
    assert made[2].tolist() == pytest.approx([1, 2, 3])


def test_a_run_without_ages_has_no_series_of_them(tmp_path: Path) -> None:
    settings = {"learning__mode": "train", "policy__name": "fedavg", "compute__strategy": "stacked"}
    with_none = live(tmp_path / "none", **settings)
    with_ages = live(tmp_path / "ages", **settings, learning__ages="always")
    (ages, none), _ = read_runs([with_none, with_ages])
    assert age_series(none) is None
    assert len(age_series(ages)["delivered"]) == len(ages.epochs["stored"])
    drawn = draw_figures([none], tmp_path)
    assert not any("age" in path.name for path in drawn)
    assert any("age" in path.name for path in draw_figures([none, ages], tmp_path))
