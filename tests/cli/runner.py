"""Runs commands in this process, with the words and exit codes that a user would see."""

import csv
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from fallow import cli


def invoke(app: typer.Typer, *arguments: str) -> str:
    """Returns what a command prints; an error is an error."""
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def fail(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str]:
    """Returns the exit code and the error words of a command that goes wrong."""
    monkeypatch.setattr("sys.argv", ["fallow", *arguments])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    return int(caught.value.code or 0), capsys.readouterr().err


def read_epochs(directory: Path) -> list[dict[str, float]]:
    with (directory / "epochs.csv").open(encoding="utf-8") as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
