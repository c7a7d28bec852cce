"""Who may write to a run directory, and what is decided before and after that is sure."""

import json
import resource
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from fallow.errors import RunDirectoryError, TrackerError
from fallow.experiment import Experiment
from fallow.runs import parts
from fallow.runs.execute import begin_or_resume, run
from fallow.runs.ownership import check_free, clear
from fallow.runs.writer import RunWriter
from fallow.simulation.engine import Engine
from fallow.storage.locks import hold
from tests.processes import without_coverage

SMALL = {"clients": 4, "epochs": 6, "policy": {"k": 2}, "energy": {"p": 0.5}, "output": {"checkpoint_every": 2}}


def engine(**settings) -> Engine:
    return Engine(Experiment.parse(SMALL | settings))


def live(directory: Path, epochs: int = 6) -> Path:
    with RunWriter(engine(), directory) as run:
        run.write(islice(run.engine, epochs))
    return directory


@pytest.fixture
def impatient(monkeypatch) -> None:
    """A lock that is still held is an error at once."""
    monkeypatch.setattr("fallow.storage.locks.PATIENCE", 0.0)


@pytest.mark.usefixtures("impatient")
def test_a_directory_that_is_not_free_is_let_go_of(tmp_path: Path) -> None:
    live(tmp_path / "run")
    for _ in range(2):
        with pytest.raises(RunDirectoryError, match="holds a finished run"):
            RunWriter(engine(), tmp_path / "run").__enter__()
    with RunWriter(engine(), tmp_path / "run", overwrite=True) as run:
        assert run.write(run.engine)


class Mute:
    """A tracker that can't begin."""

    def begin(self, run) -> None:
        raise ConnectionError("no route")

    def log(self, rows) -> None: ...

    def end(self, summary) -> None: ...


@pytest.mark.usefixtures("impatient")
def test_a_tracker_that_can_not_begin_lets_go_of_the_directory(tmp_path: Path) -> None:
    tracked = engine(output={"trackers": [f"{__name__}:Mute"]})
    for _ in range(2):
        with pytest.raises(TrackerError, match="no route"):
            RunWriter(tracked, tmp_path / "run", overwrite=True).__enter__()
    live(tmp_path / "run")


@pytest.mark.usefixtures("impatient")
def test_an_error_within_lets_go_of_the_directory_and_keeps_what_was_written(tmp_path: Path) -> None:
    def stop():
        with RunWriter(engine(), tmp_path / "run") as run:
            run.write(islice(run.engine, 3))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        stop()
    with begin_or_resume(None, tmp_path / "run") as run:
        assert run.engine.epoch == 2
        assert run.write(run.engine)["epochs"] == 6


def test_nothing_can_be_written_before_the_directory_is_open(tmp_path: Path) -> None:
    assert not hasattr(RunWriter(engine(), tmp_path / "run"), "write")
    assert not (tmp_path / "run").exists()


def test_epochs_that_end_early_leave_a_run_to_resume(tmp_path: Path) -> None:
    with RunWriter(engine(), tmp_path / "run") as run:
        assert run.write(islice(run.engine, 5)) is None
    assert not (tmp_path / "run" / "summary.json").exists()


def test_a_run_that_another_finished_meanwhile_is_not_begun_again(tmp_path: Path, monkeypatch) -> None:
    """The other one ends between the call and the lock: what is there is decided on under the lock alone."""
    live(tmp_path / "run", 3)
    real = hold

    def late(directory: Path):
        with begin_or_resume_before(directory) as run:
            run.write(run.engine)
        return real(directory)

    def begin_or_resume_before(directory: Path):
        monkeypatch.setattr("fallow.runs.execute.hold", real)
        return begin_or_resume(None, directory)

    monkeypatch.setattr("fallow.runs.execute.hold", late)
    with begin_or_resume(Experiment.parse(SMALL), tmp_path / "run") as run:
        assert run is None
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["epochs"] == 6


def test_a_finished_run_can_not_be_resumed(tmp_path: Path) -> None:
    live(tmp_path / "run")
    with pytest.raises(RunDirectoryError, match="is finished already"):
        RunWriter(engine(), tmp_path / "run", resume=True).__enter__()


@pytest.mark.parametrize("name", ["epochs.csv", "events", "config.toml", "checkpoint.fallow", "tensorboard"])
def test_a_run_with_a_link_in_it_is_not_resumed(name: str, tmp_path: Path) -> None:
    run, target = live(tmp_path / "run", 3), tmp_path / "target"
    if (run / name).exists():
        (run / name).rename(target)
    else:
        target.mkdir()
    (run / name).symlink_to(target)
    before = target.read_bytes() if target.is_file() else sorted(target.iterdir())
    with (
        pytest.raises(RunDirectoryError, match=f"{name} is a symbolic link, and a run writes to its own files only"),
        begin_or_resume(Experiment.parse(SMALL), run),
    ):
        pass
    assert (target.read_bytes() if target.is_file() else sorted(target.iterdir())) == before


def test_clearing_removes_links_and_leaves_what_they_point_at(tmp_path: Path) -> None:
    run, thesis = live(tmp_path / "run"), tmp_path / "thesis"
    thesis.mkdir()
    (thesis / "thesis.tex").write_text("years of work")
    for name in ("events", "tensorboard"):
        (run / name).symlink_to(thesis)
    (run / "epochs.csv").unlink()
    (run / "epochs.csv").symlink_to(thesis / "thesis.tex")
    clear(run, trackers=True)
    assert [path.name for path in run.iterdir()] == ["config.toml"]
    assert (thesis / "thesis.tex").read_text() == "years of work"


def test_overwriting_leaves_a_folder_of_ones_own_alone(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("title = 'mine'\n")
    (tmp_path / "summary.json").write_text("{}")
    (tmp_path / "epochs.csv").write_text("my epochs")
    with pytest.raises(RunDirectoryError, match="is not empty and not a run"):
        check_free(tmp_path, overwrite=True)


def test_a_directory_in_which_nothing_came_to_be_is_removed_again(tmp_path: Path) -> None:
    with hold(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b").is_dir()
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "mine").mkdir()
    with hold(tmp_path / "mine"):
        pass
    assert (tmp_path / "mine").is_dir()


def test_one_who_waited_for_a_directory_that_was_removed_makes_it_again(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from fallow.storage.locks import hold\n"
        "with hold(Path(sys.argv[1])): (Path(sys.argv[1]) / 'mine').write_text('')"
    )
    with hold(tmp_path / "run"):
        other = subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "run")])
        time.sleep(1.5)
    assert other.wait(timeout=30) == 0
    assert (tmp_path / "run" / "mine").exists()


def test_a_full_disk_is_one_sentence_and_no_finished_run(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "fallow", "run", "--set", "output.events=false", "--out", str(tmp_path / "run")],
        env=without_coverage(),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert "can't be written to: File too large." in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "run" / "summary.json").exists()


def test_the_groups_of_the_events_do_not_tell_where_the_checkpoints_were(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(parts, "ROWS_AT_ONCE", 100)
    files = []
    for every in (7, 25):
        experiment = Experiment(epochs=60, output={"checkpoint_every": every})
        run(experiment, tmp_path / str(every), progress=False)
        files.append(tmp_path / str(every) / "events.parquet")
    assert files[0].read_bytes() == files[1].read_bytes()
    with pq.ParquetFile(files[0]) as file:
        sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    assert len(sizes) > 2
    assert set(sizes[:-1]) == {100}
