"""Runs from Python: in memory, on the disk, stopped and gone on with."""

import os
import signal
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from fallow.errors import ConfigError, FallowError, RunDirectoryError
from fallow.experiment import Experiment
from fallow.runs.execute import begin_or_resume, resume, run
from tests.e2e.test_resume import begin, same_files

SMALL = {"clients": 6, "epochs": 8, "energy": {"p": 0.8}, "cost": {"train": 4}, "output": {"checkpoint_every": 2}}


@dataclass(frozen=True)
class Stops:
    """Selects everyone, until somebody presses Ctrl-C in epoch 5, once or, in haste, twice."""

    def init(self, clients):
        return None

    def select(self, state, view, rng):
        if view.epoch == 5:
            for _ in range(int(os.environ.get("STOP", "0"))):
                os.kill(os.getpid(), signal.SIGINT)
        return state, np.ones(view.clients, dtype=bool)


@pytest.fixture
def stopping(monkeypatch) -> Experiment:
    monkeypatch.setenv("STOP", "1")
    return Experiment.parse(SMALL | {"policy": {"name": f"{__name__}:Stops"}})


def test_without_out_nothing_is_written(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = run(Experiment.parse(SMALL | {"policy": {"k": 2}}))
    assert found.finished
    assert list(tmp_path.iterdir()) == []


def test_out_may_be_a_text(tmp_path: Path) -> None:
    found = run(Experiment.parse(SMALL | {"policy": {"k": 2}}), str(tmp_path / "run"))
    assert found.directory == tmp_path / "run"
    assert (tmp_path / "run" / "summary.json").exists()


STOPPING = "Stopping at the end of this epoch; Ctrl-C again stops at once.\n"


@pytest.mark.parametrize(("times", "whole"), [(1, 6), (2, 5)])
def test_control_c_leaves_a_directory_to_resume(
    times: int, whole: int, stopping: Experiment, tmp_path: Path, capsys, monkeypatch
) -> None:
    monkeypatch.setenv("STOP", str(times))
    directory = tmp_path / "run"
    found = run(stopping, directory)
    assert (found.finished, len(found.epochs)) == (False, whole)
    came = {1: "6 of 8 epochs", 2: "5 of 8 epochs, of which the checkpoint holds 4"}[times]
    how = f"`fallow resume {directory}` goes on, or in Python fallow.resume('{directory}')"
    assert capsys.readouterr().err == f"{STOPPING}Stopped after {came}; {how}.\n"
    monkeypatch.delenv("STOP")
    found = resume(str(directory))
    assert (found.finished, len(found.epochs)) == (True, 8)
    run(stopping, tmp_path / "whole")
    assert same_files(directory, tmp_path / "whole")


def test_nothing_is_redone_after_control_c(stopping: Experiment, tmp_path: Path) -> None:
    settings = stopping.replace(output={"checkpoint_every": 100})
    run(settings, tmp_path / "run", progress=False)
    with begin_or_resume(None, tmp_path / "run") as open_run:
        assert open_run.engine.epoch == 6


def test_control_c_in_the_last_epoch_ends_a_whole_run(stopping: Experiment, tmp_path: Path, capsys) -> None:
    assert run(stopping.replace(epochs=6), tmp_path / "run").finished
    assert capsys.readouterr().err == STOPPING


def test_control_c_in_memory_returns_what_there_is(stopping: Experiment, capsys) -> None:
    found = run(stopping)
    assert (found.finished, found.summary, len(found.epochs), found.clients) == (False, None, 6, None)
    assert found.events.epoch.max() == 5
    assert "Stopped after 6 of 8 epochs; the run so far is returned." in capsys.readouterr().err


def test_an_answer_of_the_program_s_own_to_a_signal_stays(stopping: Experiment, capsys) -> None:
    heard = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        assert run(stopping).finished
    finally:
        signal.signal(signal.SIGINT, before)
    assert (heard, capsys.readouterr().err) == ([signal.SIGINT], "")


def test_a_run_in_another_thread_leaves_signals_to_the_program(tmp_path: Path) -> None:
    experiment = Experiment.parse(SMALL | {"policy": {"k": 2}})
    thread = threading.Thread(target=run, args=(experiment, tmp_path / "run"), kwargs={"progress": False})
    thread.start()
    thread.join()
    assert (tmp_path / "run" / "summary.json").exists()


def test_a_finished_run_is_returned_as_it_is(tmp_path: Path) -> None:
    begin(tmp_path / "run", 10)
    before = (tmp_path / "run" / "summary.json").stat().st_mtime_ns
    assert resume(tmp_path / "run").finished
    assert (tmp_path / "run" / "summary.json").stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("finished", "holds a finished run; choose another out"),
        ("unfinished", "holds an unfinished run; `fallow resume"),
        ("file", "is a file; choose another out"),
        ("below a file", "is a file; choose another out"),
        ("folder", "is not empty and not a run; choose another out"),
        ("no place", "can't be written to"),
    ],
)
def test_a_place_that_is_taken_is_one_sentence_before_any_work(
    what: str, words: str, tmp_path: Path, monkeypatch
) -> None:
    out = tmp_path / "out"
    if what in ("finished", "unfinished"):
        begin(out, 10 if what == "finished" else 5)
    elif what in ("file", "below a file"):
        out.write_text("mine")
        out = out / "run" if what == "below a file" else out
    elif what == "folder":
        out.mkdir()
        (out / "thesis.tex").write_text("mine")
    else:
        out = Path("/proc/fallow/run")
    monkeypatch.setattr("fallow.runs.execute.Engine", None)  # no work
    with pytest.raises(RunDirectoryError) as caught:
        run(Experiment.parse(SMALL | {"policy": {"k": 2}}), out)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_experiment_that_can_not_be_run_leaves_no_directory(tmp_path: Path) -> None:
    experiment = Experiment.parse(SMALL | {"policy": {"k": 2}, "energy": {"model": "trace", "path": "nowhere.csv"}})
    with pytest.raises(FallowError, match=r"nowhere\.csv can't be read"):
        run(experiment, tmp_path / "runs" / "run")
    assert list(tmp_path.iterdir()) == []


def test_trackers_need_a_directory() -> None:
    with pytest.raises(RunDirectoryError, match=r"output.trackers need a run directory to write to; give one with out"):
        run(Experiment.parse(SMALL | {"output": {"trackers": ["tensorboard"]}, "policy": {"k": 2}}))


def test_resuming_where_no_run_is_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match="is no run directory"):
        resume(tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []


def test_a_module_that_is_gone_is_said_when_a_run_should_go_on(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gone_policy.py").write_text(
        "import numpy as np\nfrom dataclasses import dataclass\n"
        "@dataclass(frozen=True)\nclass Nobody:\n    def init(self, clients): return None\n"
        "    def select(self, state, view, rng): return state, np.zeros(view.clients, dtype=bool)\n"
    )
    begin(tmp_path / "run", 5, policy={"name": "gone_policy:Nobody"})
    (tmp_path / "gone_policy.py").unlink()
    sys.modules.pop("gone_policy")
    with pytest.raises(ConfigError, match="'gone_policy:Nobody' can't be loaded"):
        resume(tmp_path / "run")


@pytest.mark.parametrize("emulated", [True, False])
def test_bf16_that_is_emulated_is_said(emulated: bool, capsys, monkeypatch) -> None:
    monkeypatch.setattr("fallow.learning.device.emulates_bf16", lambda _: emulated)
    settings = SMALL | {"epochs": 1, "policy": {"k": 2}, "learning": {"mode": "train"}}
    run(Experiment.parse(settings | {"compute": {"precision": "bf16", "strategy": "spread"}}))
    assert ("no bfloat16 arithmetic" in capsys.readouterr().err) == emulated
