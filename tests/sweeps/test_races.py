"""Two sweeps in one folder: none takes the other's work for lost, and none ends well with runs that are not there."""

import os
import shutil
import subprocess
import sys
from multiprocessing import Pipe
from pathlib import Path

import pytest

from fallow.cli import app
from fallow.errors import RunDirectoryError
from fallow.runs.execute import begin_or_resume
from fallow.storage.locks import hold
from fallow.sweeps import pool
from fallow.sweeps.execute import execute
from fallow.sweeps.grid import plan
from tests.cli.runner import fail, invoke

SMALL = {"clients": 4, "epochs": 4, "energy": {"p": 0.5}, "policy": {"k": 2}}
COMMAND = ("sweep", "--set", "clients=4", "--set", "epochs=4", "--set", "policy.k=2", "--grid", "seed=0,1")


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch) -> None:
    """Carries runs out here, where a test can come between; a lock that is held is an error at once."""

    def run_all(runs, _):
        heard: list[pool.RunProgress] = []
        pool.run_here(runs, heard.append)
        yield from heard

    monkeypatch.setattr(pool, "run_all", run_all)
    monkeypatch.setattr("fallow.storage.locks.PATIENCE", 0.0)


def test_runs_that_another_sweep_finishes_after_they_were_seen_to_be_left_are_kept(tmp_path: Path, monkeypatch) -> None:
    runs = plan(SMALL, {"seed": [0, 1]}, tmp_path)
    written: list[int] = []

    def late(directory: Path):
        monkeypatch.setattr("fallow.runs.execute.hold", hold)
        execute(runs, tmp_path)
        written.extend((run.directory / "summary.json").stat().st_mtime_ns for run in runs)
        return hold(directory)

    monkeypatch.setattr("fallow.runs.execute.hold", late)
    result = execute(runs, tmp_path)
    assert (len(result.rows), result.failures) == (2, {})
    assert [(run.directory / "summary.json").stat().st_mtime_ns for run in runs] == written


def test_a_run_that_another_process_holds_is_named_with_it_and_the_sweep_does_not_end_well(
    tmp_path: Path, capsys, monkeypatch
) -> None:
    with hold(tmp_path / "seed=0"):
        code, words = fail(capsys, monkeypatch, *COMMAND, "--out", str(tmp_path))
    assert code == 1
    assert f"Failed: seed=0: {tmp_path}/seed=0 is being written to by another process" in words


def test_a_run_that_was_held_and_is_finished_by_the_end_is_no_failure(tmp_path: Path, monkeypatch) -> None:
    runs = plan(SMALL, {"seed": [0, 1]}, tmp_path)
    held = hold(runs[0].directory)
    held.__enter__()

    def late(directory: Path):
        if directory.name == "seed=1":  # the other process is done with seed=0 meanwhile
            held.__exit__(None, None, None)
            monkeypatch.setattr("fallow.runs.execute.hold", hold)
            with begin_or_resume(runs[0].experiment, runs[0].directory) as run:
                run.write(run.engine)
        return hold(directory)

    monkeypatch.setattr("fallow.runs.execute.hold", late)
    result = execute(runs, tmp_path)
    assert (len(result.rows), result.failures) == (2, {})


def test_a_run_that_is_removed_before_the_sweep_ends_is_a_failure(tmp_path: Path, monkeypatch) -> None:
    runs = plan(SMALL, {"seed": [0, 1]}, tmp_path)
    execute(runs[:1], tmp_path)

    def late(directory: Path):
        shutil.rmtree(runs[0].directory)
        return hold(directory)

    monkeypatch.setattr("fallow.runs.execute.hold", late)
    result = execute(runs, tmp_path)
    assert len(result.rows) == 1
    assert result.failures == {
        "seed=0": "it was finished, and is so no longer: another process has removed or replaced it."
    }


def test_a_table_of_ones_own_is_not_replaced_and_nothing_is_run(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("policy,score\nmine,1\n")
    runs = plan(SMALL, {"seed": [0, 1]}, tmp_path)
    with pytest.raises(RunDirectoryError, match=r"table\.csv is no table of a sweep; move it, or choose another out"):
        execute(runs, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_a_table_of_an_earlier_sweep_is_replaced(tmp_path: Path) -> None:
    invoke(app, *COMMAND, "--out", str(tmp_path))
    before = (tmp_path / "table.csv").read_text()
    (tmp_path / "table.csv").write_text(before[:-5])
    invoke(app, *COMMAND, "--out", str(tmp_path))
    assert (tmp_path / "table.csv").read_text() == before


def test_directories_have_names_that_every_file_system_takes(tmp_path: Path) -> None:
    (run,) = plan(SMALL, {"policy.name": ["fallow.policies.vaoi:VAoI"]}, tmp_path)
    assert run.directory.name == "name=fallow.policies.vaoi_VAoI"


def test_a_worker_whose_sweep_is_gone_ends_without_a_word(tmp_path: Path, capfd, monkeypatch) -> None:
    monkeypatch.setattr("signal.signal", lambda *_: None)
    (run,) = plan(SMALL, {"seed": [0]}, tmp_path)
    here, there = Pipe()
    here.send((run.experiment.to_toml(), run.directory))
    here.close()
    pool.serve(there, os.getppid())
    assert capfd.readouterr() == ("", "")


def test_a_worker_whose_sweep_was_killed_before_it_began_does_not_carry_out_a_run() -> None:
    program = (
        "from multiprocessing import Pipe; from fallow.sweeps.pool import serve\n"
        "here, there = Pipe(); serve(there, parent=2**22)  # no process has this number"
    )
    done = subprocess.run([sys.executable, "-c", program], timeout=100, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
