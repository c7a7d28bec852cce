"""Progress on a terminal, in a notebook's kernel, and as lines elsewhere."""

import os
import pty
import re
import subprocess
import sys

import pytest

from fallow.runs.progress import in_notebook, show_progress

PROGRAM = """
import time
from fallow.runs.progress import show_progress
with show_progress(4, "all runs", done=1) as whole:
    for number in (1, 2):
        with whole.task(f"run {number}", 3) as bar:
            for _ in range(3):
                time.sleep(0.15)
                bar.advance()
        whole.advance()
    whole.describe("all [bold] done")
    whole.advance()
"""
CELL = """
import sys
import fallow.runs.progress as progress
import fallow.runs.screens as screens
screens.REFRESH_SECONDS = 0.0
assert progress.in_notebook()
with progress.show_progress(4, "<b>all</b>", done=1) as whole:
    with whole.task("run 1", 2) as bar:
        bar.advance()
        print("half")
        bar.advance()
    whole.advance(2)
    whole.describe("<b>done</b>")
    whole.advance()
print("ipywidgets" in sys.modules, "rich" in sys.modules)
"""


def run_on_terminal(code: str) -> str:
    """Returns what a program shows on a terminal."""
    parent, child = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen([sys.executable, "-c", code], stderr=child, stdout=child, env=environment):
        os.close(child)
        shown = b""
        while True:
            try:
                piece = os.read(parent, 65536)
            except OSError:  # the program has ended
                break
            shown += piece
    os.close(parent)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())


def test_a_terminal_shows_bars_with_the_time_left() -> None:
    shown = run_on_terminal(PROGRAM)
    assert re.search(r"all runs .* 1/4 .* left", shown)
    assert re.search(r"run 2 .* [123]/3 ", shown)
    assert re.search(r"all \[bold\] done .* 4/4 ", shown)
    last = shown.rstrip().splitlines()[-1]
    assert "run" not in last  # the bars of single runs are gone


def test_elsewhere_short_work_is_silent() -> None:
    result = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert (result.stdout, result.stderr) == ("", "")


def test_elsewhere_long_work_prints_plain_lines_with_the_time_left(capsys, monkeypatch) -> None:
    now = 100.0
    monkeypatch.setattr("fallow.runs.screens.time.monotonic", lambda: now)
    with show_progress(100, "vaoi", done=20) as bar, bar.task("a run of many", 3) as task:
        now = 109.0
        bar.advance(20)  # much, but soon
        now = 110.0
        task.advance()  # of one run of many nothing is said
        bar.advance()
        assert capsys.readouterr() == ("", "vaoi: 41 of 100, 0:10, about 0:28 left\n")  # 21 took 10 s, 59 are left
        now = 125.0
        bar.advance(9)  # little, and not long
        assert capsys.readouterr().err == ""
        now = 140.0
        bar.describe("vaoi, still")
        assert capsys.readouterr().err == "vaoi, still: 50 of 100, 0:40, about 1:07 left\n"
        bar.advance(50)
    assert capsys.readouterr().err == ""  # whoever shows progress says the end


def test_it_can_be_switched_off() -> None:
    off = PROGRAM.replace("done=1", "done=1, show=False")
    assert run_on_terminal(off) == ""


def test_nothing_is_loaded_to_find_out_where_it_runs() -> None:
    code = "import sys; from fallow.runs.progress import in_notebook; print(in_notebook(), 'IPython' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["False", "False"]
    assert not in_notebook()


def test_an_error_within_passes_through() -> None:
    with pytest.raises(ZeroDivisionError), show_progress(3, "work"):
        raise ZeroDivisionError


def run_in_kernel(*cells: str) -> list[list[dict]]:
    """Returns the outputs of cells that a real Jupyter kernel runs."""
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient").NotebookClient
    pytest.importorskip("ipykernel")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client(notebook, timeout=120, kernel_name="python3").execute()
    return [cell.outputs for cell in notebook.cells]


def test_a_notebook_shows_one_output_that_is_replaced() -> None:
    (outputs,) = run_in_kernel(CELL)
    shown = [output for output in outputs if output["output_type"] == "display_data"]
    (display,) = shown  # one, whatever it was replaced by
    assert display["data"]["text/plain"].startswith("<b>done</b>: 4 of 4, 0:0")
    assert '<progress value="4" max="4"' in display["data"]["text/html"]
    assert "&lt;b&gt;done&lt;/b&gt;: 4 of 4" in display["data"]["text/html"]
    assert "run 1" not in display["data"]["text/html"]
    printed = "".join(output.get("text", "") for output in outputs if output["output_type"] == "stream")
    assert printed == "half\nFalse False\n"


def test_a_run_in_a_notebook_shows_how_far_it_is_and_its_totals() -> None:
    (outputs,) = run_in_kernel(
        "from fallow.experiment import Experiment\nfrom fallow.runs.execute import run\nrun(Experiment(epochs=20))"
    )
    kinds = [output["output_type"] for output in outputs]
    assert kinds == ["display_data", "execute_result"]
    assert "vaoi: 20 of 20" in outputs[0]["data"]["text/html"]
    assert "<caption>vaoi: 100 clients, 20 epochs</caption>" in outputs[1]["data"]["text/html"]
