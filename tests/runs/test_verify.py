"""A finished run against its own checksums: every byte counts, and what differs is named."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import fallow
from fallow.cli import app
from fallow.errors import ConfigError, RunDirectoryError
from fallow.experiment import Experiment
from tests.cli.runner import fail, invoke

BEFORE = Path(__file__).parent / "before"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("made") / "run"
    fallow.run(Experiment(clients=10, epochs=4, energy={"p": 0.5}), directory, progress=False)
    return directory


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "run"))


def test_a_run_that_nobody_touched_is_sound(run: Path) -> None:
    (found,) = fallow.verify(run)
    assert (found.verdict, found.files, found.differences) == ("sound", 5, ())
    assert str(found) == f"{run}: sound, 5 files are what the run wrote"
    assert invoke(app, "verify", str(run)) == f"{found}\n"


def test_the_list_is_one_that_sha256sum_reads(run: Path) -> None:
    lines = (run / "checksums.txt").read_text().splitlines()
    assert [line.split("  ")[1] for line in lines] == [
        *("config.toml", "epochs.csv", "events.parquet", "clients.parquet", "summary.json")
    ]
    assert subprocess.run(["sha256sum", "-c", "--quiet", "checksums.txt"], cwd=run, check=False).returncode == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda run: (run / "epochs.csv").write_text((run / "epochs.csv").read_text().replace("1", "2", 1)),
            "epochs.csv",
        ),
        (lambda run: (run / "summary.json").write_text(""), "summary.json is not what the run wrote"),
        (lambda run: (run / "summary.json").unlink(), "summary.json is missing"),
        (lambda run: (run / "events.parquet").unlink(), "events.parquet is missing"),
        (lambda run: (run / "checksums.txt").unlink(), "checksums.txt is missing"),
        (lambda run: (run / "checksums.txt").write_text(""), "checksums.txt can't be used"),
        (lambda run: (run / "checksums.txt").write_text("0" * 64 + "  ../secret\n"), "checksums.txt can't be used"),
        (lambda run: (run / "checksums.txt").write_text("0" * 64 + "  secret\n"), "checksums.txt is not of a run"),
        (lambda run: (run / "devices.csv").write_text("epoch\n"), "devices.csv is not of this run"),
        (lambda run: (run / "config.toml").unlink(), "config.toml is missing"),
    ],
)
def test_what_differs_is_named_and_the_exit_code_is_1(change, words: str, run: Path, capsys, monkeypatch) -> None:
    change(run)
    (found,) = fallow.verify(run)
    assert found.verdict == "damaged"
    assert words in str(found)
    assert fail(capsys, monkeypatch, "verify", str(run)) == (1, "")


def test_a_sweep_is_a_line_a_run(run: Path, tmp_path: Path, capsys, monkeypatch) -> None:
    shutil.copytree(run, tmp_path / "sweep" / "a")
    shutil.copytree(run, tmp_path / "sweep" / "b")
    (tmp_path / "sweep" / "b" / "summary.json").unlink()
    (tmp_path / "sweep" / "b" / "checksums.txt").unlink()
    lines = invoke(app, "verify", str(tmp_path / "sweep")).splitlines()
    assert [line.split(": ")[1][:12] for line in lines] == ["sound, 5 fil", "not finished"]
    (tmp_path / "sweep" / "a" / "epochs.csv").write_text("")
    code, _ = fail(capsys, monkeypatch, "verify", str(tmp_path / "sweep"), "--json")
    assert code == 1


def test_json_has_every_run(run: Path) -> None:
    document = json.loads(invoke(app, "verify", str(run), "--json"))
    assert document == {"runs": [{"directory": str(run), "verdict": "sound", "differences": []}]}


def test_a_run_of_an_earlier_version_says_that_it_has_no_checksums() -> None:
    (found,) = fallow.verify(BEFORE / "energy")
    assert str(found).endswith("no checksums: the version of Fallow that made it wrote none")


def test_what_is_no_run_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match="is no run directory"):
        fallow.verify(tmp_path)
    with pytest.raises(ConfigError, match="must be the path of a folder"):
        fallow.verify(3)  # type: ignore[arg-type]
    with pytest.raises(RunDirectoryError, match="name at least one"):
        fallow.verify()
