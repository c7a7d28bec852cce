"""What a report says of clients, and of a target."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fallow.errors import ConfigError, RunDirectoryError
from fallow.reports import write_report
from fallow.reports.clients import read_ranked_accuracy
from fallow.reports.contents import gather
from fallow.reports.runs import read_runs
from tests.reports.made_runs import live, make_up


def with_accuracy(run: Path, accuracy: list[float]) -> Path:
    pq.write_table(pa.table({"client": range(len(accuracy)), "accuracy": accuracy}), run / "clients.parquet")
    return run


def contents_of(folder: Path, target: float | None = None) -> dict[str, Any]:
    return gather(*read_runs([folder]), target)


def test_clients_are_ranked_the_worst_first_without_those_that_have_no_samples(tmp_path: Path) -> None:
    with_accuracy(make_up(tmp_path / "run", epochs=5), [0.5, np.nan, 0.25, 1.0])
    (run,) = contents_of(tmp_path)["runs"]
    assert run["accuracy"] == {"rank": [1, 2, 3], "accuracy": [0.25, 0.5, 1]}


def test_many_clients_are_thinned(tmp_path: Path) -> None:
    with_accuracy(make_up(tmp_path / "run", epochs=5), list(np.linspace(0, 1, 1000)))
    (run,) = contents_of(tmp_path)["runs"]
    assert (len(run["accuracy"]["rank"]), run["accuracy"]["rank"][-1]) == (300, 1000)


def test_a_learning_run_is_shown_with_its_clients_and_its_totals(tmp_path: Path) -> None:
    live(tmp_path / "run", learning__mode="train", compute__strategy="stacked")
    contents = contents_of(tmp_path)
    (run,) = contents["runs"]
    accuracy = np.sort(pq.read_table(tmp_path / "run" / "clients.parquet").column("accuracy").to_numpy())
    np.testing.assert_allclose(run["accuracy"]["accuracy"], accuracy, atol=1e-5)
    assert run["totals"]["client_accuracy_worst_tenth"] == pytest.approx(accuracy[0], abs=1e-5)  # one of six
    assert run["totals"]["jain_index_accuracy"] is not None
    assert contents["target"] is None
    assert "reached" not in run
    written = write_report([tmp_path / "run"], tmp_path / "report")
    assert "client-accuracy" in {path.stem for path in written.figures}


def test_an_energy_only_run_and_one_of_an_older_version_have_no_client_scores(tmp_path: Path) -> None:
    live(tmp_path / "energy")
    make_up(tmp_path / "old", epochs=5)
    assert [run["accuracy"] for run in contents_of(tmp_path)["runs"]] == [None, None]
    assert [read_ranked_accuracy(run) for run in read_runs([tmp_path])[0]] == [None, None]
    assert "client_accuracy_mean" not in contents_of(tmp_path / "energy")["runs"][0]["totals"]


def test_a_table_of_clients_that_is_damaged_is_one_sentence(tmp_path: Path) -> None:
    (make_up(tmp_path / "run", epochs=5) / "clients.parquet").write_bytes(b"x")
    with pytest.raises(RunDirectoryError, match=r"clients\.parquet can't be read"):
        contents_of(tmp_path)


def test_a_target_is_reached_or_never(tmp_path: Path) -> None:
    make_up(tmp_path / "long", policy="vaoi", epochs=200)  # evaluated every fifth epoch, 210 units an epoch
    make_up(tmp_path / "short", policy="fedavg", epochs=10)
    contents = contents_of(tmp_path, target=0.5)
    assert contents["target"] == 0.5
    reached = {run["line"]: run["reached"] for run in contents["runs"]}
    assert reached["fedavg"] is None
    assert reached["vaoi"]["energy"] == 210 * reached["vaoi"]["epochs"]
    assert reached["vaoi"]["epochs"] % 5 == 0


@pytest.mark.parametrize(("target", "words"), [(40, "The target 40 is no F1 score"), (0.4, "none of them learns")])
def test_a_target_that_makes_no_sense_is_one_sentence(target: float, words: str, tmp_path: Path) -> None:
    live(tmp_path / "run")
    with pytest.raises(ConfigError, match=words):
        write_report([tmp_path / "run"], tmp_path / "report", target)
