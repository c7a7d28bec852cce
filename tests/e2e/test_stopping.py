"""Ctrl-C and SIGTERM, sent to real processes in the middle of learning: what is whole is kept, and nothing is redone.

The policy waits inside an epoch until it was stopped, so that no test depends on how fast it goes.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fallow.runs.execute import begin_or_resume
from tests.e2e.test_resume import same_files

DEADLINE = 60
POLICY = """
import os, time
from dataclasses import dataclass
from pathlib import Path
import numpy as np

@dataclass(frozen=True)
class Waits:
    k: int = 4

    def init(self, clients):
        return None

    def select(self, state, view, rng):
        # epoch 4 lasts until a file says so, and begins with a word to whoever stops it
        if view.epoch == 4 and "HERE" in os.environ:
            here = Path(os.environ["HERE"])
            (here / f"inside-{os.getpid()}").touch()
            while not (here / "go on").exists():
                time.sleep(0.01)
        return state, np.arange(view.clients) < self.k
"""
SETTINGS = (
    *("policy.name=waits:Waits", "clients=8", "epochs=7", "energy.p=0.5", "cost.train=6", "battery.capacity=9"),
    *("learning.mode=train", "data.samples_per_client=20", "compute.strategy=stacked", "compute.workers=1"),
    "output.checkpoint_every=100",
)
SWEEP = ("sweep", "--out", "runs", "--workers", "2", "--grid", "seed=0,1", "--set=learning.mode=none")


@pytest.fixture
def place(tmp_path: Path, monkeypatch) -> Iterator[Path]:
    (tmp_path / "waits.py").write_text(POLICY)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.chdir(tmp_path)
    # What a shell starts in the background ignores Ctrl-C, and so would what it starts; a handler is not handed on.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield tmp_path
    signal.signal(signal.SIGINT, before)


@contextmanager
def started(place: Path, *arguments: str, runs: int = 1) -> Iterator[subprocess.Popen[str]]:
    """Starts a program, and returns it when so many runs are inside their fifth epoch."""
    name, *others = arguments
    command = [sys.executable, "-m", "fallow", name, *(f"--set={setting}" for setting in SETTINGS), *others]
    environment = os.environ | {"HERE": str(place)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=environment, text=True, start_new_session=True, **pipes) as process:
        try:
            deadline = time.monotonic() + DEADLINE
            while len(list(place.glob("inside-*"))) < runs:
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.02)
            yield process
        finally:
            if process.poll() is None:  # a test that failed must not leave it waiting
                os.killpg(process.pid, signal.SIGKILL)


def end(place: Path, process: "subprocess.Popen[str]") -> str:
    """Lets the epoch end and returns what the program said to people, after the end of the program."""
    (place / "go on").touch()
    _, words = process.communicate(timeout=DEADLINE)
    assert "Traceback" not in words
    return words


def wait_for_word(process: "subprocess.Popen[str]", word: str) -> None:
    """Waits until a program has said something: the signal has arrived then."""
    assert process.stderr is not None
    assert word in process.stderr.readline()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_told_to_stop_keeps_its_epoch_and_resumes_to_the_same_bytes(
    number: signal.Signals, place: Path
) -> None:
    with started(place, "run", "--out", "run") as process:
        process.send_signal(number)
        if number == signal.SIGINT:
            wait_for_word(process, "Stopping at the end of this epoch; Ctrl-C again stops at once.")
        words = end(place, process)
    assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: -signal.SIGTERM}[number]
    assert words.endswith(
        "Stopped after 5 of 7 epochs; `fallow resume run` goes on, or in Python fallow.resume('run').\n"
    )
    finish_and_compare(place, place / "run")


def finish_and_compare(place: Path, *stopped: Path) -> None:
    """Goes on with runs that were stopped after five epochs, and compares each with one that was not."""
    for number, directory in enumerate(stopped):
        with begin_or_resume(None, directory) as cut:
            assert cut is not None
            assert cut.engine.epoch == 5
            cut.write(cut.engine)
        whole = place / f"whole-{number}"
        with begin_or_resume(cut.engine.experiment, whole) as run:
            assert run is not None
            run.write(run.engine)
        assert same_files(whole, directory)


def test_a_sweep_that_is_told_to_stop_keeps_the_epochs_of_its_workers(place: Path) -> None:
    with started(place, *SWEEP, runs=2) as process:
        os.killpg(process.pid, signal.SIGINT)  # a terminal sends Ctrl-C to the workers too
        wait_for_word(process, "Stopping when the epochs under way are done; Ctrl-C again stops at once.")
        words = end(place, process)
    assert process.returncode == 130
    assert words == "Stopped; the same command goes on from the last checkpoints.\n"
    finish_and_compare(place, place / "runs" / "seed=0", place / "runs" / "seed=1")


def test_a_second_signal_stops_a_sweep_at_once(place: Path) -> None:
    with started(place, *SWEEP, runs=2) as process:
        process.send_signal(signal.SIGTERM)
        wait_for_word(process, "Stopping when the epochs under way are done")
        os.killpg(process.pid, signal.SIGINT)
        _, words = process.communicate(timeout=DEADLINE)  # nobody lets the epoch end
    assert process.returncode == 128 + signal.SIGTERM
    assert words == "Stopped; the same command goes on from the last checkpoints.\n"
    assert not list(place.glob("runs/*/checkpoint.fallow"))
