"""Fallow in a real Jupyter kernel: a policy of a cell, progress, and an interrupt."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import fallow
from fallow.errors import ConfigError

POLICIES = """
from dataclasses import dataclass
import os, signal, sys, time
import numpy as np
import fallow

@dataclass(frozen=True)
class Mine:
    pause: float = 0.0
    interrupted: int = -1

    def init(self, clients):
        return None

    def select(self, state, view, rng):
        time.sleep(self.pause)
        if view.epoch == self.interrupted:
            os.kill(os.getpid(), signal.SIGINT)  # as the kernel does when it is interrupted
        return state, view.battery >= view.train_cost

experiment = fallow.Experiment(clients=10, epochs=6, energy={"p": 0.5}, policy=Mine())
"""

STOPPING = "Stopping at the end of this epoch; Ctrl-C again stops at once.\n"


def run_cells(folder: Path, *cells: str) -> tuple[list[list[Any]], list[dict[str, str]]]:
    """Returns the outputs of cells that a kernel runs, and every display on the way there."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    displays: list[dict[str, str]] = []

    class Client(nbclient.NotebookClient):  # type: ignore[misc,name-defined]
        def process_message(self, msg: Any, cell: Any, cell_index: int) -> Any:
            if msg["msg_type"] in ("display_data", "update_display_data"):
                displays.append(msg["content"]["data"])
            return super().process_message(msg, cell, cell_index)

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    Client(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    return [cell.outputs for cell in notebook.cells], displays


def printed(outputs: list[Any], stream: str) -> str:
    return "".join(output["text"] for output in outputs if output.get("name") == stream)


def test_a_policy_of_a_cell_in_a_notebook(tmp_path: Path) -> None:
    """One kernel for all of it: to start one takes seconds."""
    cells, displays = run_cells(
        tmp_path,
        POLICIES,
        "fallow.run(experiment.replace(policy=Mine(pause=0.2)))",
        "study = fallow.sweep(experiment, policy=[Mine(), 'fedavg'], seed=range(2), out='study')\nlen(study)",
        "run = fallow.run(experiment.replace(policy=Mine(interrupted=4)))\nlen(run.epochs), run.finished",
        "fallow.run(experiment.replace(policy=Mine(interrupted=4)), out='stopped').finished",
        "sorted(name for name in ('ipywidgets', 'torch') if name in sys.modules)",
    )
    assert "".join(printed(outputs, "stderr") for outputs in cells) == "", "a notebook shows it as a fault"
    _, ran, swept, interrupted, stopped, loaded = cells
    words = [display["text/plain"] for display in displays]
    assert any(re.search(r"Mine: [1-5] of 6, 0:0\d, about 0:0\d left$", one) for one in words), words
    assert [output["output_type"] for output in ran] == ["display_data", "execute_result"]
    assert "Mine is defined in this program alone, so the runs are carried out one after" in printed(swept, "stdout")
    assert swept[-1]["data"]["text/plain"] == "4"
    assert printed(interrupted, "stdout") == (f"{STOPPING}Stopped after 5 of 6 epochs; the run so far is returned.\n")
    assert interrupted[-1]["data"]["text/plain"] == "(5, False)"
    assert printed(stopped, "stdout") == (
        f"{STOPPING}Stopped after 5 of 6 epochs; "
        "fallow.resume('stopped') goes on in this program, which alone has Mine.\n"
    )
    assert loaded[-1]["data"]["text/plain"] == "[]"
    resumed = subprocess.run(
        [sys.executable, "-c", "import fallow; fallow.resume('stopped')"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert resumed.returncode == 1
    assert resumed.stderr.splitlines()[-1] == (
        "fallow.errors.ConfigError: The policy '__main__:Mine' was defined in a notebook, a script or a function, and "
        "only the process that defined it can use it; put it into a module, such as mine.py, and name it mine:Mine in "
        "the config."
    )
    mine = POLICIES.partition("experiment =")[0].replace("self.interrupted", "-1")
    (tmp_path / "mine.py").write_text(mine, encoding="utf-8")  # what the sentence says, done
    config = tmp_path / "stopped" / "config.toml"
    config.write_text(config.read_text(encoding="utf-8").replace("__main__:Mine", "mine:Mine"), encoding="utf-8")
    (tmp_path / "stopped" / "checkpoint.fallow").unlink()  # the run of another config begins again
    code = "import fallow; print(fallow.resume('stopped').finished)"
    went_on = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert went_on.stdout == "True\n"


def test_a_config_with_a_class_of_another_program_says_what_to_do(tmp_path: Path) -> None:
    code = POLICIES + "text = experiment.to_toml()\nassert fallow.Experiment.from_toml(text) == experiment\nprint(text)"
    here = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    with pytest.raises(
        ConfigError, match=r"put it into a module, such as mine.py, and name it mine:Mine in the config\.$"
    ):
        fallow.Experiment.from_toml(here.stdout)
