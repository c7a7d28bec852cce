import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SETTINGS = (
    *("clients=12", "epochs=12", "energy.p=0.5", "cost.train=6", "battery.capacity=9", "policy.k=4"),
    *("learning.mode=train", "compute.strategy=stacked", "output.checkpoint_every=3"),
)


def command(out: Path) -> list[str]:
    settings = [f"--set={setting}" for setting in SETTINGS]
    grid = [
        "--grid",
        "policy.name=vaoi,fedavg,fedbacys,fedbacys-odd",
        "--grid",
        f"seed={','.join(map(str, range(10)))}",
    ]
    return [sys.executable, "-m", "fallow", "sweep", *settings, *grid, "--out", str(out), "--workers", "2"]


@pytest.mark.slow
def test_a_sweep_of_forty_runs_killed_twice_gives_the_same_table(tmp_path: Path) -> None:
    subprocess.run(command(tmp_path / "whole"), check=True, capture_output=True)
    rng = random.Random(3)  # noqa: S311
    for _ in range(2):
        with subprocess.Popen(
            command(tmp_path / "cut"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            time.sleep(rng.uniform(4, 8))
            assert process.poll() is None
            process.send_signal(signal.SIGKILL)
    assert not (tmp_path / "cut" / "table.csv").exists()
    subprocess.run(command(tmp_path / "cut"), check=True, capture_output=True)
    assert (tmp_path / "cut" / "table.csv").read_bytes() == (tmp_path / "whole" / "table.csv").read_bytes()
