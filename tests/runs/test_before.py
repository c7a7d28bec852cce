"""Run directories of the version before: finished ones are read, an unfinished one is left to that version.

``before/`` holds what ``fallow run --set clients=20 --set policy.k=4 --set epochs=6 --set energy.p=0.3`` wrote: as
it is ("energy"), with learning.mode=train ("learning"), and stopped in epoch 4 with output.checkpoint_every=2
("unfinished").
"""

import shutil
from pathlib import Path

import pytest

import fallow
from fallow.cli import app
from fallow.errors import CheckpointError
from fallow.runs.run import Run
from fallow.study.study import Study
from tests.cli.runner import invoke

BEFORE = Path(__file__).parent / "before"


@pytest.fixture
def before(tmp_path: Path) -> Path:
    """The three directories, to write to."""
    return Path(shutil.copytree(BEFORE, tmp_path / "before"))


@pytest.mark.parametrize("name", ["energy", "learning"])
def test_a_finished_run_is_shown_and_loaded(name: str, before: Path) -> None:
    shown = invoke(app, "show", str(before / name))
    assert "vaoi: 20 clients, 6 epochs" in shown
    assert "energy consumed" in shown
    run = fallow.load(before / name)
    assert isinstance(run, Run)
    assert run.finished
    assert run.summary is not None
    assert run.summary["energy_total"] == run.epochs["energy_total"].iloc[-1] == 357
    assert run.events is not None
    assert (run.events["kind"] == "start").sum() == run.summary["starts"] == 17
    assert run.clients is None


def test_the_model_of_a_learning_run_is_built_again(before: Path) -> None:
    run = fallow.load(before / "learning")
    assert isinstance(run, Run)
    assert sum(weights.numel() for weights in run.model().parameters()) > 0
    assert run.plot("f1").lines


def test_a_report_shows_the_finished_and_names_the_unfinished(before: Path, tmp_path: Path) -> None:
    written = fallow.report(before, out=tmp_path / "report")
    assert (written.runs, len(written.unfinished)) == (2, 1)


def test_a_folder_of_them_is_a_study(before: Path) -> None:
    study = fallow.load(before)
    assert isinstance(study, Study)
    assert (len(study), [path.name for path in study.unfinished]) == (2, ["unfinished"])


def test_a_finished_run_stays_as_it_is_when_resumed(before: Path) -> None:
    assert fallow.resume(before / "energy", progress=False).finished
    for path in (BEFORE / "energy").iterdir():
        assert (before / "energy" / path.name).read_bytes() == path.read_bytes()


def test_an_unfinished_run_is_left_to_its_version(before: Path) -> None:
    directory = before / "unfinished"
    files = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    with pytest.raises(CheckpointError) as caught:
        fallow.resume(directory, progress=False)
    assert str(caught.value) == (
        f"{directory / 'checkpoint.fallow'} has the checkpoint format 1 and this version of Fallow reads format 5; "
        "resume the run with the version that began it."
    )
    assert {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()} == files
    run = fallow.load(directory)
    assert isinstance(run, Run)
    assert (len(run.epochs), run.finished) == (4, False)
