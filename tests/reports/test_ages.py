"""Every client's version age, from the events alone, against what the engine had."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from fallow.experiment import Experiment
from fallow.policies import POLICIES
from fallow.reports import write_report
from fallow.reports.activity import Events, read_by_epoch
from fallow.reports.ages import age_map, epochs_since, in_bins, version_ages
from fallow.reports.contents import gather
from fallow.reports.runs import ReportedRun, read_runs
from fallow.runs.event_table import KINDS
from fallow.runs.writer import RunWriter
from fallow.simulation.engine import Engine
from tests.reports.made_runs import live, make_up

AGEING = ("keep", "upload", "drop")
TRAIN = {
    "learning__mode": "train",
    "learning__ages": "always",
    "compute__strategy": "stacked",
    "epochs": 12,
    "learning__eval_every": 5,
}


def by_epoch(*epochs: str) -> Iterator[Events]:
    """Epochs as words, such as ``"keep 0, upload 1"``."""
    for epoch, words in enumerate(epochs):
        kinds, clients = zip(*(event.split() for event in words.split(", ")), strict=True) if words else ((), ())
        codes = np.array([KINDS.index(kind) for kind in kinds], dtype=np.int8)
        time = np.full(len(kinds), epoch, dtype=np.int32)
        yield Events(time, time * 10, np.array(clients, dtype=np.int32), codes)


def test_ages_grow_stay_and_reset_as_the_events_say() -> None:
    epochs = ("", "keep 1", "keep 0, upload 0", "upload 1, drop 1", "keep 1, upload 1", "")
    found = [age.tolist() for age in version_ages(by_epoch(*epochs), clients=2)]
    assert found == [[1, 1], [2, 1], [0, 2], [1, 3], [2, 0], [3, 1]]


def test_of_two_updates_in_an_epoch_one_that_is_used_is_enough() -> None:
    (first, second) = version_ages(by_epoch("upload 0, drop 0, upload 0", "upload 0, upload 0, drop 0, drop 0"), 1)
    assert (first.tolist(), second.tolist()) == ([0], [1])


def test_time_since_an_update_counts_from_the_beginning() -> None:
    found = epochs_since(by_epoch("", "upload 0", "upload 1, upload 0", ""), clients=2)
    assert [since.tolist() for since in found] == [[1, 1], [0, 2], [0, 0], [1, 1]]


def test_many_epochs_and_clients_are_averaged_in_bins() -> None:
    ages = in_bins(epochs_since(by_epoch("upload 0", *[""] * 599), clients=200), clients=200, epochs=600)
    assert ages.shape == (100, 300)
    assert ages[0, 0] == pytest.approx((0 + 1 + 1 + 2) / 4)
    assert ages[99, 299] == pytest.approx(599.5)


def watched(directory: Path, **settings: Any) -> tuple[ReportedRun, list[list[int]]]:
    """Runs an experiment; returns it as the report reads it, and the engine's own ages after every epoch."""
    given = {"clients": 8, "policy__k": 3, "energy__p": 0.5, "cost__train": 9, "battery__capacity": 12} | settings
    values = (f"{name.replace('__', '.')}={json.dumps(value)}" for name, value in given.items())
    engine = Engine(Experiment.read(None, list(values)))
    ages: list[list[int]] = []

    def epochs() -> Iterator[Any]:
        for record in engine:
            ages.append(engine.age_delivered.tolist())
            yield record

    with RunWriter(engine, directory) as open_run:
        open_run.write(epochs())
    (run,), _ = read_runs([directory])
    return run, ages


def assert_exact(run: ReportedRun, ages: list[list[int]]) -> None:
    found = list(version_ages(read_by_epoch(run, AGEING), run.settings["clients"]))
    assert [age.tolist() for age in found] == ages
    assert [float(age.mean()) for age in found] == run.epochs["mean_age_delivered"].tolist()
    matrix, exact = age_map(run)
    assert exact
    assert matrix.tolist() == np.array(ages).T.tolist()


def count(run: ReportedRun, kind: str) -> int:
    return pq.read_table(run.directory / "events.parquet").column("kind").to_pylist().count(kind)


@pytest.mark.parametrize("policy", POLICIES)
def test_ages_are_those_of_the_engine_under_every_policy(policy: str, tmp_path: Path) -> None:
    run, ages = watched(tmp_path / "run", **TRAIN, policy__name=policy, learning__mu=0.3)
    assert 0 < count(run, "keep") < 8 * 12
    assert_exact(run, ages)


@pytest.mark.parametrize(
    ("settings", "drops"),
    [
        ({"staleness__name": "discard", "staleness__after": 0, "cost__train": 12}, True),
        ({"learning__on_divergence": "drop", "sgd__lr": 1e30}, True),
        ({"aggregation__name": "buffered", "aggregation__m": 4}, False),
        ({"learning__first_moment": "zero", "learning__mu": 0.01}, False),
        ({"cost__train": 3, "energy__p": 1.0}, False),
        ({"cost__probe": 2}, False),
    ],
    ids=str,
)
def test_ages_are_those_of_the_engine_under_other_rules(settings: dict, drops: bool, tmp_path: Path) -> None:
    run, ages = watched(tmp_path / "run", **(TRAIN | {"learning__mu": 0.3} | settings))
    assert (count(run, "drop") > 0) == drops
    assert count(run, "drop") == run.summary["dropped"]
    assert_exact(run, ages)


@pytest.mark.parametrize(("significance", "keeps"), [(1.0, 0), (0.4, None), (0.0, 8 * 30)])
def test_ages_are_those_of_the_engine_without_learning(significance: float, keeps: int | None, tmp_path: Path) -> None:
    run, ages = watched(tmp_path / "run", learning__significance=significance, epochs=30)
    assert keeps is None or count(run, "keep") == keeps
    assert_exact(run, ages)


def without(directory: Path, kind: str) -> None:
    """Takes the events of a kind out, as in a run from before it was written."""
    table = pq.read_table(directory / "events.parquet")
    kept = [one != kind for one in table.column("kind").to_pylist()]
    pq.write_table(table.filter(kept), directory / "events.parquet")


def test_events_that_do_not_tell_the_ages_are_noticed(tmp_path: Path) -> None:
    run, ages = watched(tmp_path / "run", learning__significance=0.4, epochs=30)
    without(run.directory, "keep")
    since, exact = age_map(run)
    assert not exact
    assert since.tolist() == [list(row) for row in zip(*epochs_since_by_hand(run), strict=True)]
    assert since.tolist() != np.array(ages).T.tolist()
    (shown,) = gather([run], [])["runs"]
    assert shown["detail"]["ages"]["exact"] is False


def epochs_since_by_hand(run: ReportedRun) -> list[list[int]]:
    last = [-1] * 8
    rows = []
    events = pq.read_table(run.directory / "events.parquet").to_pylist()
    for epoch in range(30):
        for event in events:
            if event["kind"] == "upload" and event["epoch"] == epoch:
                last[event["client"]] = epoch
        rows.append([epoch - one for one in last])
    return rows


def test_a_run_in_which_every_change_was_significant_needs_no_more_events(tmp_path: Path) -> None:
    directory = live(tmp_path / "run")
    kinds = set(pq.read_table(directory / "events.parquet").column("kind").to_pylist())
    assert kinds == {"select", "start", "finish", "upload"}
    (shown,) = gather(*read_runs([directory]))["runs"]
    assert shown["detail"]["ages"]["exact"] is True


def test_ages_that_were_not_measured_are_neither_drawn_nor_zero(tmp_path: Path) -> None:
    make_up(tmp_path / "runs" / "without", epochs=10, ages=False)
    make_up(tmp_path / "runs" / "with", epochs=10, seed=1)
    contents = gather(*read_runs([tmp_path / "runs"]))
    without, measured = contents["runs"]
    assert (without["name"], without["age"], without["totals"]["mean_age_delivered"]) == ("without", None, None)
    assert measured["age"]["delivered"][0] >= 3
    assert without["detail"]["ages"]["exact"] is False
    names = {path.name for path in write_report([tmp_path / "runs"], tmp_path / "both").figures}
    assert "mean-age.pdf" in names
    names = {path.name for path in write_report([tmp_path / "runs" / "without"], tmp_path / "one").figures}
    assert "mean-age.pdf" not in names
    assert "energy-by-use.pdf" in names


def test_a_column_of_ages_that_is_not_there_was_not_measured(tmp_path: Path) -> None:
    run = make_up(tmp_path / "run", epochs=10)
    table = run / "epochs.csv"
    table.write_text(table.read_text().replace("mean_age_selected,mean_age_delivered", "one,other"))
    (entry,) = gather(*read_runs([run]))["runs"]
    assert entry["age"] is None
