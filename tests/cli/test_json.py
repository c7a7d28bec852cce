"""With --json, standard output is one JSON document, whatever else there is to say."""

import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from fallow.cli import app
from fallow.data import DATASETS
from fallow.study import paper
from fallow.sweeps.execute import SweepResult
from fallow.sweeps.grid import PlannedRun
from tests.e2e.test_resume import begin
from tests.reports.made_runs import make_up

SMALL = ("--set=clients=12", "--set=epochs=4", "--set=policy.k=3", "--set=energy.p=0.5")
LOUD = """
from dataclasses import dataclass
import numpy as np

print("imported")

@dataclass(frozen=True)
class Loud:
    extra: int = 0

    def init(self, clients):
        print("{not JSON")

    def select(self, state, view, rng):
        print("selecting")
        return state, np.ones(view.clients + self.extra, dtype=bool)

@dataclass(frozen=True)
class Wrong(Loud):
    extra: int = 1
"""


def ask(*arguments: str, code: int = 0) -> tuple[Any, Result]:
    result = CliRunner().invoke(app, [*arguments, "--json"], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return json.loads(result.stdout), result


def summary_of(directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((directory / "summary.json").read_text())
    return found


@pytest.fixture
def loud(tmp_path: Path, monkeypatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "loud_policy.py").write_text(LOUD)
    yield
    sys.modules.pop("loud_policy", None)


def test_run_prints_the_summary_and_where_it_is(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    found, _ = ask("run", *SMALL)
    assert found.pop("directory") == "runs/vaoi-1"
    assert found == summary_of(tmp_path / "runs" / "vaoi-1")


@pytest.mark.usefixtures("loud")
def test_what_a_policy_prints_goes_elsewhere() -> None:
    found, result = ask("run", *SMALL, "--set=policy.name=loud_policy:Loud", "--out", "run")
    assert found["selected"] == 4 * 12
    assert result.stderr.count("selecting") == 4


def test_resume_prints_the_summary(tmp_path: Path) -> None:
    begin(tmp_path / "run", 5)
    for words in ("", "is finished already"):
        found, result = ask("resume", str(tmp_path / "run"))
        assert found == {"directory": str(tmp_path / "run"), **summary_of(tmp_path / "run")}
        assert words in result.stderr


def test_check_prints_the_problems_and_keeps_its_exit_code() -> None:
    found, _ = ask("check", "vaoi")
    assert found == {"policy": "vaoi", "problems": []}


@pytest.mark.usefixtures("loud")
def test_check_of_a_policy_that_is_wrong() -> None:
    found, result = ask("check", "loud_policy:Wrong", code=1)
    assert found["policy"] == "loud_policy:Wrong"
    assert any("shape (2,)" in problem for problem in found["problems"])
    assert "selecting" in result.stderr


def test_data_list_prints_every_dataset(tmp_path: Path) -> None:
    found, _ = ask("data", "list", "--data-dir", str(tmp_path))
    assert found["directory"] == str(tmp_path)
    assert found["datasets"].keys() == DATASETS.keys()
    assert {name: about["state"] for name, about in found["datasets"].items()} == {
        "digits": "ready",
        "synthetic": "ready",
        "cifar10": "not fetched",
        "fashion-mnist": "not fetched",
        "sensors": "ready",
    }
    assert all(about["what"] for about in found["datasets"].values())


def test_report_prints_what_it_wrote(tmp_path: Path) -> None:
    make_up(tmp_path / "runs" / "done", epochs=5)
    (make_up(tmp_path / "runs" / "stopped", epochs=5) / "summary.json").unlink()
    out = tmp_path / "out"
    found, result = ask("report", str(tmp_path / "runs"), "--out", str(out))
    assert found["page"] == str(out / "report.html")
    assert {found["page"], *found["figures"]} == {str(path) for path in out.iterdir()}
    assert found["runs"] == 1
    assert found["unfinished"] == [{"name": "stopped", "done": 5, "epochs": 5}]
    assert "1 run is not finished" in result.stderr


def test_paper_prints_the_claims(tmp_path: Path, monkeypatch) -> None:
    def execute(runs: list[PlannedRun], *_: object, **__: object) -> SweepResult:
        make_up(runs[0].directory, epochs=12)
        return SweepResult(36, 36, [{}] * 36, {}, tmp_path / "table.csv", 1.0)

    monkeypatch.setattr(paper, "execute", execute)
    found, result = ask("paper", "--scale", "smoke", "--seeds", "1", "--out", str(tmp_path))
    claims = {claim["text"]: claim for claim in found["claims"]["paper"]}
    assert claims["VAoI uses less energy than FedAvg."]["verdict"] == "not decided"
    assert claims["VAoI uses less energy than FedAvg."]["cells"] == []
    assert str(tmp_path / "figures" / "paper" / "f1.png") in found["figures"]
    assert Path(found["page"]).read_text().startswith("# What holds of the paper's claims")
    assert "36 of 36 runs finished" in result.stderr


@pytest.mark.parametrize("command", ["sweep", "compare"])
def test_many_runs_print_their_rows(command: str, tmp_path: Path) -> None:
    grid = ("--grid", "policy.name=vaoi,fedavg") if command == "sweep" else ("--policies=vaoi,fedavg", "--seeds=1")
    found, result = ask(command, *SMALL, *grid, "--out", str(tmp_path))
    assert (found["runs"], found["failures"], found["table"]) == (2, {}, str(tmp_path / "table.csv"))
    with Path(found["table"]).open() as file:
        assert [row["energy_total"] for row in csv.DictReader(file)] == [
            str(row["energy_total"]) for row in found["rows"]
        ]
    assert [row["policy.name"] for row in found["rows"]] == ["vaoi", "fedavg"]
    assert "2 of 2 runs finished" in result.stderr


@pytest.mark.usefixtures("loud")
def test_many_runs_print_what_failed_and_exit_with_1() -> None:
    grid = ("--grid", "policy.name=loud_policy:Wrong")
    command = (sys.executable, "-m", "fallow", "sweep", "--set=clients=12", "--set=epochs=4", *grid, "--json")
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1, result.stderr
    assert "selecting" in result.stderr  # also from the processes that carry out the runs
    found = json.loads(result.stdout)
    assert found["failures"].keys() == {"name=loud_policy_Wrong"}
    assert (found["runs"], found["rows"], found["table"]) == (1, [], None)


def test_a_dry_run_prints_its_forecast(tmp_path: Path) -> None:
    found, _ = ask("sweep", *SMALL, "--grid", "seed=0,1", "--workers=2", "--dry-run", "--out", str(tmp_path / "none"))
    assert found.pop("seconds") >= 0
    assert found == {"runs": 2, "finished": 0, "at_once": 2}


def test_an_error_leaves_standard_output_empty(tmp_path: Path, capsys, monkeypatch) -> None:
    from fallow import cli

    monkeypatch.setattr("sys.argv", ["fallow", "run", "--set=clients=0", "--json", "--out", str(tmp_path / "run")])
    with pytest.raises(SystemExit):
        cli.main()
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "Error: clients = 0 must be at least 1.\n"
