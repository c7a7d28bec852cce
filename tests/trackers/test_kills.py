"""SIGKILL in the middle of a run, a resume, and every point of both trackers compared with the table."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.trackers.points import as_float32, mlflow_points, own_store, table_points, tensorboard_points

MORTAL = """
import os
import signal
from dataclasses import dataclass

import numpy as np

from fallow.runs import tracking

tracking.PAUSE = 0.0


@dataclass(frozen=True)
class Mortal:
    def init(self, clients):
        return None

    def select(self, state, view, rng):
        if view.epoch == int(os.environ.get("LAST_EPOCH", "-1")):
            os.kill(os.getpid(), signal.SIGKILL)
        return state, np.ones(view.clients, dtype=bool)
"""
SETTINGS = (
    *("clients=6", "epochs=12", "energy.p=0.5", "policy.name=mortal:Mortal", "output.checkpoint_every=5"),
    'output.trackers=["mlflow", "tensorboard"]',
)


def fallow(folder: Path, last_epoch: int | None, *arguments: str) -> int:
    environment = {name: value for name, value in os.environ.items() if name != "MLFLOW_TRACKING_URI"}
    if last_epoch is not None:
        environment["LAST_EPOCH"] = str(last_epoch)
    command = [sys.executable, "-m", "fallow", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False).returncode


def test_killed_before_a_checkpoint_and_after_one_both_trackers_show_every_epoch_once(tmp_path: Path) -> None:
    (tmp_path / "mortal.py").write_text(MORTAL)
    command = ["run", *(f"--set={setting}" for setting in SETTINGS), "--out", "run"]
    for epoch in (3, 9):
        assert fallow(tmp_path, epoch, *command) == -signal.SIGKILL
        assert max(step for _, step in tensorboard_points(tmp_path / "run")) == epoch - 1  # ahead of the checkpoint
        command = ["resume", "run"]
    assert fallow(tmp_path, None, *command) == 0
    expected = table_points(tmp_path / "run")
    assert {step for _, step in expected} == set(range(12))
    assert tensorboard_points(tmp_path / "run") == as_float32(expected)
    assert mlflow_points(own_store(tmp_path / "run"), "run")[0] == expected
