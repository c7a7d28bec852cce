"""Stopping and going on, through the command line."""

import resource
import shutil
import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from fallow.cli import app
from fallow.errors import DivergenceError, RunDirectoryError
from fallow.experiment import Experiment
from fallow.policies import POLICIES
from fallow.runs.writer import RunWriter
from fallow.simulation.engine import Engine
from tests.cli.runner import fail, invoke, read_epochs
from tests.processes import without_coverage

SETTINGS = {
    "clients": 12,
    "epochs": 10,
    "energy": {"p": 0.5},
    "cost": {"train": 6},
    "battery": {"capacity": 9},
    "policy": {"k": 4},
    "output": {"checkpoint_every": 3},
}
TRAIN = {
    "learning": {"mode": "train", "eval_every": 2},
    "data": {"samples_per_client": 30},
    "compute": {"strategy": "stacked", "workers": 1},
}


def begin(directory: Path, epochs: int, **settings) -> None:
    """Lives through some epochs of a run and stops without a word, as a kill would."""
    engine = Engine(Experiment.parse(SETTINGS | settings))
    with RunWriter(engine, directory) as run:
        run.write(islice(engine, epochs))


def same_files(one: Path, two: Path) -> bool:
    names = {path.name for path in one.iterdir()}
    assert names == {path.name for path in two.iterdir()}
    return all((one / name).read_bytes() == (two / name).read_bytes() for name in names)


@pytest.mark.parametrize("epochs", [0, 2, 3, 4, 9])
@pytest.mark.parametrize("settings", [{}, TRAIN], ids=["energy", "learning"])
def test_a_run_stopped_anywhere_ends_in_the_same_bytes(epochs: int, settings: dict, tmp_path: Path) -> None:
    begin(tmp_path / "whole", 10, **settings)
    begin(tmp_path / "cut", epochs, **settings)
    assert not (tmp_path / "cut" / "summary.json").exists()
    invoke(app, "resume", str(tmp_path / "cut"))
    assert same_files(tmp_path / "whole", tmp_path / "cut")


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_resumes_to_the_same_bytes(policy: str, tmp_path: Path) -> None:
    settings = TRAIN | {"policy": {"name": policy, "k": 4}}
    begin(tmp_path / "whole", 10, **settings)
    begin(tmp_path / "cut", 5, **settings)
    invoke(app, "resume", str(tmp_path / "cut"), "--workers", "2")
    assert same_files(tmp_path / "whole", tmp_path / "cut")


RULES: list[dict[str, str | int]] = [
    {"name": "buffered", "m": 5},
    {"name": "buffered", "m": 5, "by": "changes"},
    {"name": "all"},
    {"name": "shrinkage", "by": "changes"},
    {"name": "fedasync"},
    {"name": "fedbuff", "k": 4},
    {"name": "fedopt", "method": "momentum"},
    {"name": "fedopt", "method": "yogi"},
    {"name": "mifa"},
    {"name": "mifa", "memory": "float16", "where": "disk"},
    {"name": "fedvarp"},
    {"name": "fedvarp", "memory": "float16"},
    {"name": "fedvarp", "where": "disk"},
]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_every_aggregation_resumes_to_the_same_bytes(rule: dict, tmp_path: Path) -> None:
    settings = TRAIN | {"aggregation": rule, "staleness": {"name": "polynomial"}}
    begin(tmp_path / "whole", 10, **settings)
    begin(tmp_path / "cut", 7, **settings)
    invoke(app, "resume", str(tmp_path / "cut"))
    assert same_files(tmp_path / "whole", tmp_path / "cut")


@pytest.mark.parametrize("strategy", ["spread", "stacked"])
@pytest.mark.parametrize(
    "model",
    [
        {"name": "tests.oracle.networks:dropping"},
        {"name": "tests.oracle.networks:batch_normalised"},
        {"name": "tests.oracle.networks:batch_normalised", "keep_local": True},
    ],
    ids=["dropout", "batch normalisation", "statistics kept"],
)
def test_dropout_and_running_statistics_resume_to_the_same_bytes(model: dict, strategy: str, tmp_path: Path) -> None:
    settings = TRAIN | {"model": model, "cost": {"train": [3, 6, 20] * 4}, "battery": {"capacity": 25}}
    settings |= {"compute": {"strategy": strategy, "workers": 1}, "slots_per_epoch": 12}
    begin(tmp_path / "whole", 10, **settings)
    begin(tmp_path / "cut", 5, **settings)
    invoke(app, "resume", str(tmp_path / "cut"), "--workers", "2")
    assert same_files(tmp_path / "whole", tmp_path / "cut")


@pytest.mark.parametrize(
    "data",
    [
        {"samples_per_client": 30, "sizes": "lognormal"},
        {"sizes": [1, 90, 3, 30, 30, 7, 55, 2, 20, 41, 16, 5]},
        {"name": "tests.own_parts:owned", "partition": "natural"},
    ],
    ids=["lognormal", "listed", "natural"],
)
def test_clients_with_unequal_data_resume_to_the_same_bytes(data: dict, tmp_path: Path) -> None:
    settings = TRAIN | {"data": data}
    begin(tmp_path / "whole", 10, **settings)
    begin(tmp_path / "cut", 5, **settings)
    invoke(app, "resume", str(tmp_path / "cut"), "--workers", "2")
    assert same_files(tmp_path / "whole", tmp_path / "cut")


def test_a_checkpoint_writes_only_the_changes_that_are_new(tmp_path: Path) -> None:
    settings = TRAIN | {"aggregation": {"name": "mifa"}, "output": {"checkpoint_every": 1}}
    engine = Engine(Experiment.parse(SETTINGS | settings))
    rows, kept, written, updates = tmp_path / "run" / "rows", {}, 0, 0
    with RunWriter(engine, tmp_path / "run") as run:
        for _ in range(9):
            (record,) = islice(engine, 1)
            run.write([record])
            now = {path.name: path.stat().st_ino for path in rows.glob("*")}
            written += sum(inode != kept.get(name) for name, inode in now.items())
            updates += record.aggregated
            kept = now
        assert 0 < written <= updates  # of two updates of a client in an epoch, one is remembered
        assert len(kept) == np.count_nonzero(engine.learner.aggregation_state.rows.versions) > 3
        run.write(engine)
    assert not rows.exists()


def test_a_change_that_is_lost_is_one_sentence(tmp_path: Path, capsys, monkeypatch) -> None:
    begin(tmp_path / "run", 7, **TRAIN, aggregation={"name": "fedvarp"})
    next((tmp_path / "run" / "rows").iterdir()).unlink()
    code, words = fail(capsys, monkeypatch, "resume", str(tmp_path / "run"))
    assert code == 2
    assert "which the checkpoint needs, can't be read: No such file or directory" in words
    assert words.count("\n") == 1


def test_a_finished_run_says_so(tmp_path: Path) -> None:
    begin(tmp_path / "run", 10)
    before = (tmp_path / "run" / "epochs.csv").read_bytes()
    assert "is finished already" in invoke(app, "resume", str(tmp_path / "run"))
    assert (tmp_path / "run" / "epochs.csv").read_bytes() == before


def test_two_writers_never_share_a_directory(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("fallow.storage.locks.PATIENCE", 0.0)
    begin(tmp_path / "run", 5)
    first, second = (RunWriter(Engine(Experiment.parse(SETTINGS)), tmp_path / "run", resume=True) for _ in range(2))
    with first as run:
        with pytest.raises(RunDirectoryError, match="being written to by another process"):
            second.__enter__()
        run.write(run.engine)
    assert (tmp_path / "run" / "summary.json").exists()


def test_an_unfinished_run_is_not_overwritten_unless_told_to(tmp_path: Path, capsys, monkeypatch) -> None:
    begin(tmp_path / "run", 5)
    code, words = fail(capsys, monkeypatch, "run", "--set", "epochs=3", "--out", str(tmp_path / "run"))
    assert code == 2
    assert "holds an unfinished run; `fallow resume" in words
    invoke(app, "run", "--set", "epochs=3", "--out", str(tmp_path / "run"), "--overwrite")
    assert len(read_epochs(tmp_path / "run")) == 3
    assert not (tmp_path / "run" / "checkpoint.fallow").exists()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda run: (run / "checkpoint.fallow").write_bytes(b"x"), "damaged"),
        (lambda run: (run / "config.toml").write_text((run / "config.toml").read_text() + "\n#"), "was changed"),
        (lambda run: (run / "epochs.csv").write_text("epoch\n"), "shorter than the checkpoint says"),
        (lambda run: (run / "config.toml").unlink(), "is no run directory"),
        (shutil.rmtree, "is no run directory"),
    ],
)
def test_a_damaged_run_is_one_sentence(damage, words: str, tmp_path: Path, capsys, monkeypatch) -> None:
    begin(tmp_path / "run", 5)
    damage(tmp_path / "run")
    code, said = fail(capsys, monkeypatch, "resume", str(tmp_path / "run"))
    assert code == 2
    assert words in said
    assert said.count("\n") == 1


def test_a_disk_that_takes_no_more_keeps_the_checkpoint_and_the_run_goes_on_later(tmp_path: Path) -> None:
    begin(tmp_path / "whole", 10, **TRAIN)
    begin(tmp_path / "run", 4, **TRAIN)
    checkpoint = (tmp_path / "run" / "checkpoint.fallow").read_bytes()
    room = 20_000
    assert len(checkpoint) > 2 * room
    result = subprocess.run(
        [sys.executable, "-m", "fallow", "resume", str(tmp_path / "run")],
        env=without_coverage(),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert "can't be written to: File too large. What the last checkpoint holds is safe." in result.stderr
    assert "Traceback" not in result.stderr
    assert (tmp_path / "run" / "checkpoint.fallow").read_bytes() == checkpoint
    invoke(app, "resume", str(tmp_path / "run"))
    assert same_files(tmp_path / "whole", tmp_path / "run")


def test_a_training_that_diverges_stops_the_run_and_names_client_epoch_and_step(tmp_path: Path) -> None:
    with pytest.raises(DivergenceError, match=r"Epoch \d+: The training of client \d+ .* diverged at step \d+"):
        begin(tmp_path / "run", 10, **TRAIN, sgd={"lr": 1e30})


def test_a_training_that_diverges_can_be_dropped_and_never_reaches_the_model(tmp_path: Path) -> None:
    settings = TRAIN | {"sgd": {"lr": 1e30}, "learning": TRAIN["learning"] | {"on_divergence": "drop"}}
    begin(tmp_path / "run", 10, **settings)
    rows = (tmp_path / "run" / "epochs.csv").read_text().splitlines()
    header = rows[0].split(",")
    cells = [dict(zip(header, row.split(","), strict=True)) for row in rows[1:]]
    assert sum(int(row["dropped"]) for row in cells) == sum(int(row["uploads"]) for row in cells) > 0
    assert sum(int(row["aggregated"]) for row in cells) == 0
    assert len({row["loss"] for row in cells if row["loss"]}) == 1  # the first model, untouched


def test_events_that_are_missing_are_said_so_and_never_passed_over(tmp_path: Path, capsys, monkeypatch) -> None:
    begin(tmp_path / "run", 7)
    shutil.rmtree(tmp_path / "run" / "events")
    code, words = fail(capsys, monkeypatch, "resume", str(tmp_path / "run"))
    assert code == 2
    assert "are missing; the run must be started again" in words
