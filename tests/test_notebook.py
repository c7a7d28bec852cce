from pathlib import Path

import fallow
from fallow.cli import app
from tests.cli.runner import invoke


def test_a_run_is_read_as_frames(tmp_path: Path) -> None:
    invoke(app, "run", "--set", "epochs=5", "--set", "energy.p=1", "--out", str(tmp_path / "run"))
    run = fallow.load(tmp_path / "run")
    assert run.experiment.epochs == len(run.epochs) == 5
    assert (run.events.kind == "start").sum() == run.epochs.starts.sum() == run.summary["starts"]


def test_a_run_without_events_has_none(tmp_path: Path) -> None:
    invoke(app, "run", "--set", "epochs=2", "--set", "output.events=false", "--out", str(tmp_path / "run"))
    assert fallow.load(str(tmp_path / "run")).events is None
