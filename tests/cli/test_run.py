import json
import tomllib
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from fallow.cli import app
from fallow.simulation.records import COLUMNS
from tests.cli.runner import fail, invoke, read_epochs

SMALL = ("--set", "clients=12", "--set", "epochs=9", "--set", "policy.k=3", "--set", "energy.p=0.5")


def run(out: Path, *more: str) -> str:
    return invoke(app, "run", *SMALL, *more, "--out", str(out))


def test_a_run_leaves_its_six_files_and_nothing_else(tmp_path: Path) -> None:
    output = run(tmp_path / "run")
    assert {path.name for path in (tmp_path / "run").iterdir()} == {
        "checksums.txt",
        "config.toml",
        "epochs.csv",
        "events.parquet",
        "clients.parquet",
        "summary.json",
    }
    assert "energy consumed" in output
    assert str(tmp_path / "run") in output


def test_epochs_csv_has_a_row_an_epoch_and_its_columns(tmp_path: Path) -> None:
    run(tmp_path / "run")
    rows = read_epochs(tmp_path / "run")
    assert [row["epoch"] for row in rows] == list(range(9))
    assert tuple(rows[0]) == COLUMNS


def test_the_events_tell_the_same_story_as_the_table(tmp_path: Path) -> None:
    run(tmp_path / "run")
    rows = read_epochs(tmp_path / "run")
    events = pq.read_table(tmp_path / "run" / "events.parquet").to_pylist()
    assert list(events[0]) == ["epoch", "slot", "client", "kind", "staleness"]
    for kind, column in (("select", "selected"), ("start", "starts"), ("finish", "finishes"), ("upload", "uploads")):
        for row in rows:
            assert sum(e["kind"] == kind and e["epoch"] == row["epoch"] for e in events) == row[column]
    assert all(e["epoch"] == e["slot"] // 30 for e in events)
    assert all((e["staleness"] is None) == (e["kind"] != "upload") for e in events)
    stale = sum(1 for e in events if e["staleness"])
    assert stale == sum(row["stale_uploads"] for row in rows)
    assert sum(e["kind"] == "upload" for e in events) > 10


def test_the_summary_holds_the_totals(tmp_path: Path) -> None:
    run(tmp_path / "run")
    rows = read_epochs(tmp_path / "run")
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    for name in ("harvested", "consumed_train", "consumed_tx", "overflow", "starts", "uploads", "stale_uploads"):
        assert summary[name] == sum(row[name] for row in rows)
    assert summary["energy_total"] == rows[-1]["energy_total"] == summary["consumed_train"] + summary["consumed_tx"]
    assert summary["harvested"] == summary["energy_total"] + summary["stored"] + summary["overflow"]
    assert summary["mean_age_delivered"] == pytest.approx(sum(r["mean_age_delivered"] for r in rows) / 9)


def test_the_resolved_config_reproduces_the_run_byte_for_byte(tmp_path: Path) -> None:
    run(tmp_path / "one", "--set", "seed=5")
    invoke(app, "run", str(tmp_path / "one" / "config.toml"), "--out", str(tmp_path / "two"))
    for name in ("config.toml", "epochs.csv", "events.parquet", "summary.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name
    assert tomllib.loads((tmp_path / "one" / "config.toml").read_text())["seed"] == 5


def test_events_can_be_left_out(tmp_path: Path) -> None:
    run(tmp_path / "run", "--set", "output.events=false")
    assert not (tmp_path / "run" / "events.parquet").exists()


def test_a_finished_run_is_not_overwritten_unless_told_to(tmp_path: Path, capsys, monkeypatch) -> None:
    run(tmp_path / "run")
    before = (tmp_path / "run" / "epochs.csv").read_bytes()
    code, words = fail(capsys, monkeypatch, "run", *SMALL, "--set", "seed=1", "--out", str(tmp_path / "run"))
    assert code == 2
    assert "holds a finished run" in words
    assert "--overwrite" in words
    assert (tmp_path / "run" / "epochs.csv").read_bytes() == before
    run(tmp_path / "run", "--set", "seed=1", "--overwrite")
    assert (tmp_path / "run" / "epochs.csv").read_bytes() != before


def test_a_folder_that_is_not_a_run_is_left_alone(tmp_path: Path, capsys, monkeypatch) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    code, words = fail(capsys, monkeypatch, "run", *SMALL, "--overwrite", "--out", str(tmp_path))
    assert code == 2
    assert "is not empty and not a run" in words
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_without_out_the_next_free_directory_is_taken(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    invoke(app, "run", *SMALL)
    invoke(app, "run", *SMALL)
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["vaoi-1", "vaoi-2"]


POLICY = """
from dataclasses import dataclass
import numpy as np

@dataclass(frozen=True)
class Breaks:
    after: int = 3
    def init(self, clients):
        return None
    def select(self, state, view, rng):
        return state, np.ones(view.clients + (view.epoch >= self.after), dtype=bool)
"""


def test_a_run_that_fails_midway_does_not_look_finished_and_can_be_started_over(
    tmp_path: Path, capsys, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "breaks_midway.py").write_text(POLICY)
    arguments = ("run", *SMALL, "--set", "policy.name=breaks_midway:Breaks", "--out", "run")
    code, words = fail(capsys, monkeypatch, *arguments)
    assert code == 2
    assert "shape (13,)" in words
    assert "Traceback" not in words
    assert not (tmp_path / "run" / "summary.json").exists()
    assert not (tmp_path / "run" / "events.parquet").exists()
    invoke(app, *arguments, "--set", "policy.after=99")
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["selected"] == 9 * 12


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--set", "clients=0"], "clients = 0 must be at least 1."),
        (["--set", "policy.k=101"], "policy.k = 101 is more than clients = 100"),
        (["--set", "policy.name=vaio"], "did you mean 'vaoi'?"),
        (["--set", "energy.model=trace", "--set", "energy.path=nowhere.csv"], "The trace nowhere.csv can't be read"),
        (["--set", "energy.model=trace"], "set energy.path"),
        (["nowhere.toml"], "The config nowhere.toml can't be read"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing_behind(
    arguments: list[str], words: str, tmp_path: Path, capsys, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, said = fail(capsys, monkeypatch, "run", *arguments, "--out", "run")
    assert code == 2
    assert words in said
    assert said.startswith("Error: ")
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_trace_drives_a_run(tmp_path: Path) -> None:
    (tmp_path / "sun.csv").write_text("units\n" + "1\n" * 15 + "0\n" * 15)
    settings = ("--set", "energy.model=trace", "--set", f"energy.path={tmp_path / 'sun.csv'}")
    invoke(app, "run", "--set", "epochs=4", *settings, "--out", str(tmp_path / "run"))
    assert [row["harvested"] for row in read_epochs(tmp_path / "run")] == [1500] * 4


def test_an_unwritable_place_is_one_sentence(tmp_path: Path, capsys, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    code, words = fail(capsys, monkeypatch, "run", *SMALL, "--out", str(tmp_path / "file" / "run"))
    assert code == 2
    assert "file is a file; choose another out (--out)" in words


@pytest.mark.parametrize("option", [[], ["--overwrite"]])
@pytest.mark.parametrize("command", ["run", "resume"])
def test_a_folder_of_ones_own_that_looks_like_a_run_is_left_alone(
    command: str, option: list[str], tmp_path: Path, capsys, monkeypatch
) -> None:
    (tmp_path / "events").mkdir()
    own = {"config.toml": "# mine\nepochs = 3\n", "model.safetensors": "weights", "events/notes.txt": "notes"}
    for name, text in own.items():
        (tmp_path / name).write_text(text)
    arguments = ["run", "--out", str(tmp_path), *option] if command == "run" else ["resume", str(tmp_path)]
    code, words = fail(capsys, monkeypatch, *arguments)
    assert code == 2
    assert ("is not empty and not a run" if command == "run" else "it is not the config of a run") in words
    assert {name: (tmp_path / name).read_text() for name in own} == own
    assert len(list(tmp_path.iterdir())) == 3


def test_a_run_begins_with_what_its_file_of_watts_holds(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "roof.csv").write_text("time,watts\n0,0.1\n60,0.2\n120,0.3\n1000,0.4\n", encoding="utf-8")
    watts = ("--set", "energy.model=watts", "--set", "energy.path=roof.csv", "--set", "slot_seconds=60")
    small = ("--set", "unit_joules=1", "--set", "epochs=2", "--set", "clients=12")
    printed = invoke(app, "run", *watts, *small, "--out", "run")
    assert printed.startswith("roof.csv: 4 rows from 1970-01-01 00:00 UTC, 17.7 min in steps of 1 min, mean ")
    assert "1 gap of 13.7 min, filled with zeros." in printed
    invoke(app, "run", *watts, *small, "--set", "energy.fill=hold", "--out", "held")
    summaries = [json.loads((tmp_path / name / "summary.json").read_text()) for name in ("run", "held")]
    assert [summary["harvested"] for summary in summaries] == [12 * units_of(fill) for fill in ("zeros", "hold")]


def units_of(fill: str) -> int:
    """The whole joules of an hour of the file above: 0.1, 0.2 and 0.3 W for a minute, a gap, 0.4 W for a minute."""
    row = [(60, 0.1), (60, 0.2), (60, 0.3), (820, 0.3 if fill == "hold" else 0.0), (60, 0.4)]
    joules, left = 0.0, 3600
    while left:
        for seconds, watts in row:
            joules += min(seconds, left) * watts
            left -= min(seconds, left)
    return int(joules + 1e-6)
