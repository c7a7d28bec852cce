"""Two processes and one directory: what is there is decided on under the lock. Each test forces the worst order."""

import os
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest

from fallow.cli import app
from fallow.errors import RunDirectoryError
from fallow.experiment import Experiment
from fallow.runs.execute import begin_or_resume, run, run_next
from fallow.runs.writer import RunWriter
from fallow.simulation.engine import Engine
from fallow.storage.locks import hold, hold_next
from tests.cli.runner import invoke

SMALL = {"clients": 4, "epochs": 6, "policy": {"k": 2}, "energy": {"p": 0.5}, "output": {"checkpoint_every": 2}}
Meanwhile = Callable[[Callable[[Path], object]], None]


def live(directory: Path, epochs: int = 6, **settings) -> None:
    """Lives through some epochs of a run, and stops as a kill would; goes on with one that is there."""
    with begin_or_resume(Experiment.parse(SMALL | settings), directory) as open_run:
        assert open_run is not None
        open_run.write(islice(open_run.engine, epochs))


def files_of(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}


@pytest.fixture
def meanwhile(monkeypatch) -> Meanwhile:
    """Lets another process do something between all that is looked at without the lock, and the lock."""

    def set_hook(act: Callable[[Path], object]) -> None:
        def late(directory: Path):
            monkeypatch.setattr("fallow.runs.execute.hold", hold)
            act(directory)
            return hold(directory)

        monkeypatch.setattr("fallow.runs.execute.hold", late)

    return set_hook


@pytest.mark.parametrize("epochs_before", [0, 1, 5])
def test_a_run_that_another_process_finishes_meanwhile_is_kept_by_resume(
    epochs_before: int, tmp_path: Path, meanwhile: Meanwhile
) -> None:
    directory = tmp_path / "run"
    live(directory, epochs_before)
    finished: dict[str, bytes] = {}

    def finish(directory: Path) -> None:
        live(directory)
        finished.update(files_of(directory))

    meanwhile(finish)
    invoke(app, "resume", str(directory))
    assert "summary.json" in finished
    assert files_of(directory) == finished


def test_a_run_that_another_process_finishes_meanwhile_is_kept_by_run(tmp_path: Path, meanwhile: Meanwhile) -> None:
    meanwhile(live)
    with pytest.raises(RunDirectoryError, match="holds a finished run"):
        run(Experiment.parse(SMALL | {"seed": 1}), tmp_path / "run")
    assert (tmp_path / "run" / "summary.json").exists()


@pytest.mark.parametrize("epochs", [1, 3, 6])
def test_a_run_of_another_experiment_that_came_meanwhile_is_neither_taken_for_this_one_nor_touched(
    epochs: int, tmp_path: Path, meanwhile: Meanwhile
) -> None:
    directory = tmp_path / "run"
    meanwhile(lambda directory: live(directory, epochs, seed=7))
    with (
        pytest.raises(RunDirectoryError, match="holds a run of another experiment, with seed = 7, not 0"),
        begin_or_resume(Experiment.parse(SMALL), directory),
    ):
        pass
    assert b"seed = 7" in files_of(directory)["config.toml"]


def test_runs_that_begin_at_once_have_a_directory_each(tmp_path: Path) -> None:
    with hold_next(tmp_path / "runs", "vaoi") as one, hold_next(tmp_path / "runs", "vaoi") as two:
        assert (one.name, two.name) == ("vaoi-1", "vaoi-2")
        third = run_next(Experiment.parse(SMALL), tmp_path / "runs", progress=False)
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["vaoi-3"]
    assert third.finished


def test_a_link_to_nowhere_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "vaoi-1").symlink_to(tmp_path / "nowhere")
    with hold_next(tmp_path, "vaoi") as directory:
        assert directory.name == "vaoi-2"


def test_a_directory_that_another_process_takes_after_it_was_seen_free_is_passed_over(
    tmp_path: Path, monkeypatch
) -> None:
    real = Path.mkdir

    def late(path: Path, *arguments, **options) -> None:
        if path.name == "vaoi-1" and not path.exists():
            real(path)
        real(path, *arguments, **options)

    monkeypatch.setattr(Path, "mkdir", late)
    with hold_next(tmp_path, "vaoi") as directory:
        assert directory.name == "vaoi-2"


def test_a_folder_that_others_remove_again_and_again_is_made_again(tmp_path: Path, monkeypatch) -> None:
    real, removed = Path.mkdir, []

    def late(path: Path, *arguments, **options) -> None:
        if path.name == "run" and len(removed) < 3:
            removed.append(path.parent)
            with suppress(FileNotFoundError):
                path.parent.rmdir()
        real(path, *arguments, **options)

    monkeypatch.setattr(Path, "mkdir", late)
    with hold(tmp_path / "runs" / "run"):
        assert (tmp_path / "runs" / "run").is_dir()
    assert len(removed) == 3
    assert not (tmp_path / "runs").exists()


def test_a_directory_that_is_held_names_the_process(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("fallow.storage.locks.PATIENCE", 0.0)
    monkeypatch.setattr("fallow.storage.locks.LOCKS", tmp_path / "locks")
    number = tmp_path.stat()
    place = f"{os.major(number.st_dev):02x}:{os.minor(number.st_dev):02x}:{number.st_ino}"
    other = f"{os.major(number.st_dev):02x}:{os.minor(number.st_dev):02x}:{number.st_ino + 1}"
    (tmp_path / "locks").write_text(
        f"1: FLOCK  ADVISORY  WRITE 4710 {other} 0 EOF\n2: FLOCK  ADVISORY  WRITE 4711 {place} 0 EOF\n"
    )
    with (
        RunWriter(Engine(Experiment.parse(SMALL)), tmp_path / "run"),
        hold(tmp_path),
        pytest.raises(RunDirectoryError, match=r"is being written to by another process \(4711\); wait for it"),
        hold(tmp_path),
    ):
        pass
