"""Whose files are in a run directory: a run writes to its own, and removes nothing else."""

import json
import os
import shutil
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest

from fallow.errors import FallowError, RunDirectoryError
from fallow.experiment import Experiment
from fallow.reports.contents import gather
from fallow.reports.runs import read_runs
from fallow.runs.execute import resume, run
from fallow.runs.layout import FILES
from fallow.runs.ownership import check_free
from fallow.runs.run import load_run
from fallow.runs.writer import RunWriter
from fallow.simulation.engine import Engine
from fallow.storage.files import write_atomically

SMALL = {"clients": 4, "epochs": 6, "policy": {"k": 2}, "energy": {"p": 0.5}, "output": {"checkpoint_every": 2}}


def live(directory: Path, epochs: int = 6) -> Path:
    """Lives through some epochs of a run, and stops as a kill would."""
    with RunWriter(Engine(Experiment.parse(SMALL)), directory) as open_run:
        open_run.write(islice(open_run.engine, epochs))
    return directory


@pytest.mark.parametrize("name", ["checkpoint.fallow.part", "summary.json.part", "events.parquet.part", "epochs.csv"])
def test_a_file_that_is_about_to_be_written_through_a_link_is_not_resumed(name: str, tmp_path: Path) -> None:
    directory, thesis = live(tmp_path / "run", 3), tmp_path / "thesis.tex"
    thesis.write_text("years of work")
    (directory / name).unlink(missing_ok=True)
    (directory / name).symlink_to(thesis)
    with pytest.raises(RunDirectoryError, match=f"{name} is a symbolic link"):
        resume(directory, progress=False)
    assert thesis.read_text() == "years of work"


def test_a_part_that_is_a_link_is_not_resumed(tmp_path: Path) -> None:
    directory, thesis = live(tmp_path / "run", 3), tmp_path / "thesis.tex"
    thesis.write_text("years of work")
    (directory / "events" / "000000002.open").symlink_to(thesis)
    with pytest.raises(RunDirectoryError, match=r"000000002\.open is a symbolic link"):
        resume(directory, progress=False)


def test_a_table_that_is_the_same_file_as_another_is_not_cut(tmp_path: Path) -> None:
    directory, backup = live(tmp_path / "run", 3), tmp_path / "backup.csv"
    os.link(directory / "epochs.csv", backup)
    before = backup.read_bytes()
    with pytest.raises(RunDirectoryError, match=r"epochs\.csv is one file with another \(a hard link\)"):
        resume(directory, progress=False)
    assert backup.read_bytes() == before


def test_a_file_is_written_through_no_link(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    for number, link in enumerate((os.link, os.symlink)):
        link(tmp_path / "thesis.tex", tmp_path / f"{number}.part")
        write_atomically(tmp_path / str(number), b"new")
        assert (tmp_path / str(number)).read_bytes() == b"new"
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_a_folder_of_parts_with_a_file_of_ones_own_is_not_resumed_and_not_emptied(tmp_path: Path) -> None:
    directory = live(tmp_path / "run", 3)
    mine = directory / "events" / "notes.txt"
    mine.write_text("mine")
    for overwrite in (False, True):
        with pytest.raises(RunDirectoryError, match=r"notes\.txt is nothing that a run writes"):
            run(Experiment.parse(SMALL), directory, overwrite=True) if overwrite else resume(directory)
    assert mine.read_text() == "mine"
    assert (directory / "checkpoint.fallow").exists()


@pytest.mark.parametrize("name", ["checkpoint.fallow", "epochs.csv", "summary.json", "config.toml.part"])
@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_plain_file_is_one_sentence_and_waits_for_nobody(name: str, kind: str, tmp_path: Path) -> None:
    directory = live(tmp_path / "run", 3)
    (directory / name).unlink(missing_ok=True)
    (directory / name).mkdir() if kind == "folder" else os.mkfifo(directory / name)
    with pytest.raises(RunDirectoryError, match=f"{name} is no plain file"):
        resume(directory, progress=False)


@pytest.mark.parametrize("name", ["config.toml", "epochs.csv", "summary.json", "events.parquet", "clients.parquet"])
def test_a_pipe_in_a_run_is_not_waited_for_by_its_readers(name: str, tmp_path: Path) -> None:
    directory = live(tmp_path / "run")
    (directory / name).unlink()
    os.mkfifo(directory / name)
    with pytest.raises(RunDirectoryError, match="no plain file" if name != "config.toml" else "no run directory"):
        _ = [load_run(directory).epochs, load_run(directory).events, load_run(directory).clients]
    with suppress(FallowError):  # a report waits for nobody either; what it can do without, it leaves out
        gather(*read_runs([directory]))


def test_overwriting_needs_a_summary_of_the_same_run_as_the_config(tmp_path: Path) -> None:
    """A config that a user copied from a run, beside a summary and a table of their own."""
    live(tmp_path / "run")
    mine = tmp_path / "mine"
    mine.mkdir()
    shutil.copy(tmp_path / "run" / "config.toml", mine)
    (mine / "summary.json").write_text(json.dumps({"policy": "vaoi", "clients": 4, "epochs": 7}))
    (mine / "epochs.csv").write_text("my epochs")
    with pytest.raises(RunDirectoryError, match="is not empty and not a run"):
        check_free(mine, overwrite=True)
    shutil.copy(tmp_path / "run" / "summary.json", mine)
    check_free(mine, overwrite=True)


def test_overwriting_takes_a_run_that_was_killed_before_its_first_checkpoint(tmp_path: Path) -> None:
    directory = live(tmp_path / "run", 1)
    assert sorted(path.name for path in directory.iterdir()) == ["config.toml", "epochs.csv"]
    check_free(directory, overwrite=True)
    (directory / "epochs.csv").write_text("my epochs")
    with pytest.raises(RunDirectoryError, match="is not empty and not a run"):
        check_free(directory, overwrite=True)


def test_overwriting_leaves_what_no_run_writes(tmp_path: Path) -> None:
    directory = live(tmp_path / "run")
    (directory / "notes.txt").write_text("mine")
    (directory / "tensorboard").mkdir()
    (directory / "tensorboard" / "thesis.tex").write_text("years of work")
    experiment = Experiment.parse(SMALL | {"seed": 1})
    with pytest.raises(RunDirectoryError, match="tensorboard is not of the run, which has no such tracker"):
        run(experiment, directory, overwrite=True)
    (directory / "tensorboard").rename(directory / "mine")
    assert run(experiment, directory, overwrite=True, progress=False).finished
    assert (directory / "notes.txt").read_text() == "mine"
    assert (directory / "mine" / "thesis.tex").read_text() == "years of work"


def test_a_run_half_removed_is_still_known_as_one(tmp_path: Path) -> None:
    """A kill while a run is replaced leaves the files that come last."""
    directory = live(tmp_path / "run")
    for name in FILES:
        check_free(directory, overwrite=True)
        (directory / name).unlink(missing_ok=True)
    check_free(directory, overwrite=True)
