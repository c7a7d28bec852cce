"""Trackers of a federation: they hear every round once, also over a restart, and can't stop it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from flwr.app import Context, RecordDict

from fallow.errors import ConfigError
from fallow.flower import experiment_server, experiment_strategy
from fallow.flower.experiment import Scorer
from fallow.trackers import Row, TrackedRun
from tests.flower.federations import Wire, federate, small
from tests.trackers.points import as_float32, tensorboard_points


class Diary:
    """Writes down what it is told."""

    pages: list[tuple[str, Any]] = []  # noqa: RUF012  # of all diaries: a tracker is made by its name

    def begin(self, run: TrackedRun) -> None:
        self.pages.append(("begin", (run.epoch, run.settings["policy.name"])))

    def log(self, rows: Sequence[Row]) -> None:
        self.pages += [("log", (row["epoch"], row["connected"])) for row in rows]

    def end(self, summary: Mapping[str, Any]) -> None:
        self.pages.append(("end", summary["epochs"]))


class Broken(Diary):
    """Fails over a round."""

    def log(self, rows: Sequence[Row]) -> None:
        raise ValueError(f"epoch {rows[0]['epoch']}")


@pytest.fixture(autouse=True)
def _empty_diary() -> None:
    Diary.pages.clear()


def tracked(*trackers: str) -> Any:
    return small(clients=2, epochs=3, learning={"mode": "train"}, output={"trackers": list(trackers)})


def test_trackers_hear_every_round_once_also_over_a_restart(tmp_path: Path) -> None:
    experiment = tracked(f"{__name__}:Diary")
    federate(experiment, tmp_path, rounds=2)
    federate(experiment, tmp_path)
    assert Diary.pages == [
        ("begin", (0, "vaoi")),
        ("log", (0, 2)),
        ("log", (1, 2)),
        ("end", 2),
        ("begin", (2, "vaoi")),
        ("log", (2, 2)),
        ("end", 3),
    ]


def test_tensorboard_shows_what_rounds_csv_says(tmp_path: Path) -> None:
    strategy, _ = federate(tracked("tensorboard"), tmp_path)
    assert strategy.federation is not None
    rows = {
        (name, number): float(value)
        for number, row in enumerate(strategy.federation.rounds)
        for name, value in row.items()
        if name != "round" and value is not None
    }
    assert tensorboard_points(tmp_path / "server") == as_float32(rows)


def test_a_tracker_that_fails_does_not_stop_the_federation(tmp_path: Path, caplog) -> None:
    with caplog.at_level("WARNING", logger="flwr"):
        strategy, _ = federate(tracked(f"{__name__}:Broken"), tmp_path)
    assert strategy.federation is not None
    assert strategy.federation.epoch == 3
    assert "failed in log, epoch 0" in caplog.text


def test_the_run_config_s_trackers_go_before_the_experiment_s(tmp_path: Path) -> None:
    experiment = tracked()
    server = experiment_server(experiment, tmp_path / "server", patience=0.0)
    run_config = {"trackers": f"{__name__}:Diary, tensorboard", "min-nodes": 2}
    server(Wire(experiment, tmp_path / "nodes"), Context(1, 1, {}, RecordDict(), run_config))
    assert Diary.pages[-1] == ("end", 3)
    assert list((tmp_path / "server" / "tensorboard").iterdir())


def test_trackers_need_a_directory(tmp_path: Path) -> None:
    experiment = tracked(f"{__name__}:Diary")
    strategy = experiment_strategy(experiment, patience=0.0)
    with pytest.raises(ConfigError, match="Trackers need a directory"):
        strategy.start(Wire(experiment, tmp_path), Scorer(experiment).initial(), 1)
