from pathlib import Path

import pytest

from fallow import data
from fallow.cli import app
from fallow.errors import DataError
from tests.cli.runner import invoke


def test_a_dry_run_of_an_unknown_scale_is_refused() -> None:
    from typer.testing import CliRunner

    result = CliRunner().invoke(app, ["paper", "--scale", "tiny"])
    assert result.exit_code == 2
    assert "'tiny' is not one of smoke, half, full" in result.output


@pytest.mark.slow
def test_the_smoke_study_ends_in_figures_and_claims(tmp_path: Path) -> None:
    try:
        data.fetch("cifar10")
    except DataError as error:
        pytest.skip(str(error))
    output = invoke(app, "paper", "--scale", "smoke", "--seeds", "1", "--out", str(tmp_path))
    assert "36 of 36 runs finished" in output
    assert output.count("not decided") >= 3
    assert (tmp_path / "claims.md").exists()
    assert len(list((tmp_path / "figures").iterdir())) == 6
