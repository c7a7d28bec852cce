"""What so many trainings bought in runs that were made."""

import json
from pathlib import Path

import pytest

from fallow.errors import RunDirectoryError
from fallow.planning.bought import read_scores
from fallow.planning.plan import plan
from fallow.study.intervals import interval
from fallow.study.results import read_series
from tests.planning.nodes import DEVICE
from tests.reports.made_runs import live, make_up

TRAININGS = {0.1: 0.5, 0.4: 1.5}
"""Trainings of a client and round, by p."""


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """Three seeds at two points of one policy, and a single run of another."""
    folder = tmp_path / "sweep"
    for p, trainings in TRAININGS.items():
        for seed in range(3):
            set_trainings(make_up(folder / f"p={p},seed={seed}", p=p, seed=seed, epochs=20), trainings)
    set_trainings(make_up(folder / "other", policy="fedavg", epochs=20), 1.0)
    return folder


def set_trainings(run: Path, per_client_and_round: float) -> None:
    summary = json.loads((run / "summary.json").read_text())
    summary["starts"] = round(per_client_and_round * summary["clients"] * summary["epochs"])
    (run / "summary.json").write_text(json.dumps(summary))


def test_f1_at_a_point_is_the_mean_of_its_seeds_with_their_interval(sweep: Path) -> None:
    own = next(scores for scores in read_scores(sweep) if scores.policy == "vaoi")
    late = interval([read_series(sweep / f"p=0.4,seed={seed}").late_f1() for seed in range(3)])
    found = own.read(1.5)
    assert (found.f1, found.low, found.high) == pytest.approx((late.mean, late.low, late.high))
    assert (found.measured_from, found.measured_to, found.runs) == (0.5, 1.5, 6)


def test_between_two_points_f1_is_on_the_line_and_outside_there_is_none(sweep: Path) -> None:
    own = next(scores for scores in read_scores(sweep) if scores.policy == "vaoi")
    low, middle, high = (own.read(trainings).f1 for trainings in (0.5, 1.0, 1.5))
    assert middle == pytest.approx((low + high) / 2)
    for trainings in (0.49, 1.51):
        outside = own.read(trainings)
        assert outside.f1 is outside.low is outside.high is None


def test_a_single_seed_has_no_interval(sweep: Path) -> None:
    other = next(scores for scores in read_scores(sweep) if scores.policy == "fedavg")
    assert other.read(1.0).f1 is not None
    assert other.read(1.0).low is None
    assert other.read(1.1).f1 is None


def test_a_battery_is_read_against_accuracy(sweep: Path) -> None:
    found = plan(
        device=DEVICE,
        energy={"p": 0.5},
        unit_joules=1.0,
        trainings_per_day=1.0,
        years=1,
        batteries=[9.0, 20.0],
        panels=[1.0],
        runs=sweep,
        progress=False,
    )
    assert [each.policy for each in found.bought] == ["fedavg", "vaoi"]
    assert found.bought[1].trainings_per_round == pytest.approx(found.year.trainings_per_day)
    assert found.bought[1].f1 is not None
    table = found.table().set_index("battery_joules")
    assert table["f1 vaoi"].isna().to_dict() == {40.0: False, 9.0: True, 20.0: False}  # 9 J never train
    assert len(found.plot().axes) == 5


def test_one_run_says_what_it_measured_and_no_more(sweep: Path) -> None:
    (only,) = read_scores(sweep / "p=0.1,seed=0")
    assert only.read(0.5).f1 is not None
    assert only.read(0.6).f1 is None


def test_runs_that_learnt_nothing_are_one_sentence(tmp_path: Path) -> None:
    live(tmp_path / "run")
    with pytest.raises(RunDirectoryError, match="holds no finished run with an F1 score"):
        read_scores(tmp_path / "run")
