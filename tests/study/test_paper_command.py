from pathlib import Path

import pytest
from typer.testing import CliRunner

from fallow import data
from fallow.cli import app
from fallow.errors import DataError
from fallow.sweeps.execute import SweepResult
from fallow.sweeps.grid import PlannedRun
from tests.cli.runner import fail, invoke
from tests.reports.made_runs import make_up


def test_a_dry_run_of_an_unknown_scale_is_refused() -> None:
    result = CliRunner().invoke(app, ["paper", "--scale", "tiny"])
    assert result.exit_code == 2
    assert "'tiny' is not one of smoke, half, full" in result.output


def test_what_finished_is_shown_though_a_run_failed(tmp_path: Path, monkeypatch) -> None:
    """Nothing that was computed is lost; the exit code tells."""

    def execute(runs: list[PlannedRun], *_: object, **__: object) -> SweepResult:
        for run in runs:
            if run.point == {"data.alpha": 10.0, "energy.p": 0.1, "policy.name": "vaoi", "seed": 0}:
                make_up(run.directory, epochs=12)
        failures = {"the others": "They failed."}
        return SweepResult(len(runs), len(runs), [], failures, tmp_path / "table.csv", 1.0)

    monkeypatch.setattr("fallow.study.paper.execute", execute)
    result = CliRunner().invoke(app, ["paper", "--scale=smoke", "--seeds=1", "--out", str(tmp_path)])
    assert result.exit_code == 1, result.output
    assert "Finished runs: 1 with" in (tmp_path / "claims.md").read_text()
    assert len(list((tmp_path / "figures" / "paper").iterdir())) == 6


@pytest.mark.slow
def test_the_smoke_study_ends_in_figures_and_claims(tmp_path: Path) -> None:
    try:
        data.fetch("cifar10")
    except DataError as error:
        pytest.skip(str(error))
    cells = ("--p", "0.1", "--p", "1", "--alpha", "0.1", "--alpha", "10")
    output = invoke(app, "paper", "--scale", "smoke", "--seeds", "1", *cells, "--out", str(tmp_path))
    assert "16 of 16 runs finished" in output
    assert output.count("not decided") >= 3
    assert (tmp_path / "claims.md").exists()
    assert len(list((tmp_path / "figures" / "paper").iterdir())) == 6


def test_a_study_without_learning_is_refused_before_anything_runs(tmp_path: Path, capsys, monkeypatch) -> None:
    code, words = fail(
        capsys, monkeypatch, "paper", "--scale=smoke", "--set=learning.mode=none", "--out", str(tmp_path)
    )
    assert code == 2
    assert "leaves nothing to compare" in words
    assert list(tmp_path.iterdir()) == []


def test_variants_have_a_rule_and_an_alpha_of_their_own(tmp_path: Path, capsys, monkeypatch) -> None:
    code, words = fail(capsys, monkeypatch, "paper", "--sensitivity", "--alpha=1", "--out", str(tmp_path))
    assert code == 2
    assert "leave out --rule and --alpha" in words
