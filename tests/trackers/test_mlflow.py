"""Runs in MLflow, read back by its client. A database takes MLflow seconds to make, so most tests share one."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from fallow.cli import app
from fallow.plugins.nested import flatten
from fallow.storage.locks import lock
from tests.cli.runner import fail, invoke
from tests.e2e.test_resume import TRAIN, begin
from tests.trackers.points import mlflow_points, mlflow_runs, own_store, table_points

TRACKED = {"output": {"checkpoint_every": 3, "trackers": ["mlflow"]}}


@pytest.fixture(autouse=True)
def _without_an_address(monkeypatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME", raising=False)


@pytest.fixture(scope="module")
def database(tmp_path_factory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('store') / 'shared.db'}"


@pytest.fixture
def shared(database: str, monkeypatch) -> str:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", database)
    return database


@pytest.fixture(scope="module")
def own(tmp_path_factory) -> Path:
    """A run with a store of its own."""
    directory = tmp_path_factory.mktemp("own") / "run"
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("MLFLOW_TRACKING_URI", raising=False)
        begin(directory, 10, **TRACKED)
    return directory


def test_a_run_has_a_store_of_its_own(own: Path) -> None:
    assert {path.name for path in (own / "mlflow").iterdir()} == {"mlflow.db", "id"}
    points, totals = mlflow_points(own_store(own), "run")
    assert points == table_points(own)
    summary = json.loads((own / "summary.json").read_text())
    names = {name for name, value in summary.items() if isinstance(value, int | float)} - {"seed", "clients", "epochs"}
    assert totals == {(f"summary/{name}", 10): summary[name] for name in names}


def test_a_store_that_is_removed_and_still_open_is_one_sentence(own: Path, capsys, monkeypatch) -> None:
    arguments = ("run", "--set=epochs=2", "--set=output.trackers=mlflow", "--overwrite", "--out", str(own))
    code, words = fail(capsys, monkeypatch, *arguments)
    assert code == 2
    assert "was removed while this process had it open" in words


def test_metrics_are_the_columns_of_the_table_and_settings_are_parameters(shared: str, tmp_path: Path) -> None:
    begin(tmp_path / "learning", 10, **TRAIN, **TRACKED, battery={"capacity": [9] * 12})
    points, totals = mlflow_points(shared, "learning")
    assert points == table_points(tmp_path / "learning")
    assert ("recall_9", 9) in points
    assert ("summary/best_f1", 10) in totals
    (run,) = (run for run in mlflow_runs(shared)[1] if run.info.run_name == "learning")
    settings = flatten(tomllib.loads((tmp_path / "learning" / "config.toml").read_text()))
    assert run.data.params == {key: str(value) for key, value in settings.items()}
    assert not (tmp_path / "learning" / "mlflow" / "mlflow.db").exists()


@pytest.mark.parametrize("pause", [0.0, 1e9], ids=["at once", "at checkpoints"])
@pytest.mark.parametrize("epochs", [0, 2, 4])
def test_after_a_stop_the_same_run_goes_on(epochs: int, pause: float, shared: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("fallow.runs.tracking.PAUSE", pause)
    name = f"stopped-{epochs}-{pause}"
    begin(tmp_path / name, epochs, **TRACKED)
    (before,) = (run for run in mlflow_runs(shared)[1] if run.info.run_name == name)
    assert before.info.status == "RUNNING"
    invoke(app, "resume", str(tmp_path / name))
    points, _ = mlflow_points(shared, name)
    assert points == table_points(tmp_path / name)


def test_a_store_that_lacks_epochs_is_brought_up_to_date(shared: str, tmp_path: Path) -> None:
    begin(tmp_path / "deleted", 7, **TRACKED)
    client, runs = mlflow_runs(shared)
    (run,) = (run for run in runs if run.info.run_name == "deleted")
    client.delete_run(run.info.run_id)
    invoke(app, "resume", str(tmp_path / "deleted"))
    points, _ = mlflow_points(shared, "deleted")
    assert points == table_points(tmp_path / "deleted")


def test_a_kill_at_the_very_end_doubles_no_total(shared: str, tmp_path: Path, monkeypatch) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("fallow.runs.writer.to_json", killed)
        with pytest.raises(KeyboardInterrupt):
            begin(tmp_path / "nearly", 10, **TRACKED)
    assert not (tmp_path / "nearly" / "summary.json").exists()
    assert mlflow_points(shared, "nearly")[1]  # were it told later, a kill in between would lose it
    invoke(app, "resume", str(tmp_path / "nearly"))
    points, totals = mlflow_points(shared, "nearly")
    assert points == table_points(tmp_path / "nearly")
    assert totals


def test_an_overwritten_run_is_another_run(shared: str, tmp_path: Path) -> None:
    for seed in (0, 1):
        settings = ("--set=epochs=3", "--set=output.trackers=mlflow", f"--set=seed={seed}")
        invoke(app, "run", *settings, "--overwrite", "--out", str(tmp_path / "twice"))
    runs = [run for run in mlflow_runs(shared)[1] if run.info.run_name == "twice"]
    assert sorted(run.data.params["seed"] for run in runs) == ["0", "1"]


def test_runs_go_into_the_experiment_that_mlflow_is_told_of(shared: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "field trial")
    begin(tmp_path / "trial", 10, **TRACKED)
    client, runs = mlflow_runs(shared)
    names = {run.info.run_name: client.get_experiment(run.info.experiment_id).name for run in runs}
    assert names.pop("trial") == "field trial"
    assert set(names.values()) <= {"fallow"}


def test_a_store_that_can_not_be_had_is_one_sentence_before_any_epoch(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "gopher://nowhere")
    arguments = ("run", "--set=epochs=3", "--set=output.trackers=mlflow", "--out", str(tmp_path / "run"))
    code, words = fail(capsys, monkeypatch, *arguments)
    assert code == 2
    assert words.startswith("Error: The tracker 'mlflow' failed in begin: ")
    assert words.count("\n") == 1
    assert len((tmp_path / "run" / "epochs.csv").read_text().splitlines()) == 1


def test_runs_make_a_shared_database_one_after_the_other(tmp_path: Path, capsys, monkeypatch) -> None:
    (tmp_path / "shared").mkdir()
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path / 'shared' / 'runs.db'}")
    monkeypatch.setattr("fallow.trackers.mlflow.MAKING_SECONDS", 0.0)
    other = lock(tmp_path / "shared")
    arguments = ("run", "--set=output.trackers=mlflow", "--out", str(tmp_path / "run"))
    code, words = fail(capsys, monkeypatch, *arguments)
    other.close()
    assert code == 2
    assert "shared is being written to by another process" in words
    assert not (tmp_path / "shared" / "runs.db").exists()


@pytest.mark.slow
def test_all_runs_of_a_sweep_are_in_one_database(tmp_path: Path, monkeypatch) -> None:
    database = f"sqlite:///{tmp_path / 'shared' / 'runs.db'}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", database)
    settings = ("--set=epochs=20", "--set=output.trackers=mlflow", "--set=output.checkpoint_every=2")
    invoke(app, "sweep", *settings, "--grid=seed=0,1,2,3", "--workers=4", "--out", str(tmp_path / "runs"))
    for seed in range(4):
        points, _ = mlflow_points(database, f"seed={seed}")
        assert points == table_points(tmp_path / "runs" / f"seed={seed}")


def test_a_directory_that_is_no_address_is_one_sentence(tmp_path: Path, capsys, monkeypatch) -> None:
    out = str(tmp_path / "100%")
    code, words = fail(capsys, monkeypatch, "run", "--set=output.trackers=mlflow", "--out", out)
    assert code == 2
    assert "can't be the address of a database, for its '?' or '%'" in words


NETWORK = """
import atexit, socket, sys

def refuse(*address, **_):
    print("asked for", address[-1] if len(address) == 2 else address[0], flush=True)
    raise OSError("there is no network")

socket.socket.connect = refuse
socket.getaddrinfo = refuse
from fallow.cli import app

app(sys.argv[1:], standalone_mode=False)
atexit._run_exitfuncs()
"""


@pytest.mark.parametrize("telemetry", [None, "false"], ids=["as it comes", "telemetry asked for"])
@pytest.mark.usefixtures("shared")
def test_nothing_is_asked_of_the_network(telemetry: str | None, tmp_path: Path) -> None:
    quiet = {"PYTEST_CURRENT_TEST", "CI", "GITHUB_ACTIONS"}  # where they are set, MLflow sends nothing anyway
    environment = {name: value for name, value in os.environ.items() if name not in quiet}
    environment.pop("MLFLOW_DISABLE_TELEMETRY", None)
    environment |= {"HOME": str(tmp_path)} | ({"MLFLOW_DISABLE_TELEMETRY": telemetry} if telemetry else {})
    command = [sys.executable, "-c", NETWORK, "run", "--set=epochs=2", "--set=output.trackers=mlflow"]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "run")], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert ("asked for" in done.stdout) == (telemetry == "false"), done.stdout
