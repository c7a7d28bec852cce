from pathlib import Path

import pytest
import typer

from fallow.cli.report import report
from fallow.errors import RunDirectoryError
from tests.cli.runner import invoke
from tests.reports.made_runs import live, make_up

app = typer.Typer()
app.command()(report)


def test_a_report_of_one_run(tmp_path: Path) -> None:
    words = invoke(app, str(live(tmp_path / "run")), "--out", str(tmp_path / "out"))
    page = tmp_path / "out" / "report.html"
    assert words == f"The report of 1 run is in {page}, with 2 figures as PDF and PNG.\n"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_what_is_not_finished_is_said(tmp_path: Path, capsys) -> None:
    make_up(tmp_path / "done", epochs=5)
    (make_up(tmp_path / "stopped", epochs=5) / "summary.json").unlink()
    report([tmp_path], tmp_path / "out")
    assert "Note: 1 run is not finished and is named but not drawn: stopped." in capsys.readouterr().err


def test_no_run_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match="There is no run in"):
        report([tmp_path], tmp_path / "out")


def test_a_place_that_can_not_be_written_to_is_one_sentence(tmp_path: Path) -> None:
    make_up(tmp_path / "run", epochs=5)
    (tmp_path / "file").write_text("")
    with pytest.raises(RunDirectoryError, match="The report can't be written to"):
        report([tmp_path / "run"], tmp_path / "file" / "out")
