"""What surrounds the peers of ``make bench-peers``; the peers themselves are not needed here."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from peers.environments import Environment, NoEnvironmentError, constraints, reason, run
from peers.memory import MARK, megabytes
from peers.process import Player, attempt
from peers.table import Row, difference, table
from peers.turns import Setup

SIDE = """#!{python}
import sys
import numpy as np
from peers.turns import Turns
turns = Turns(int(sys.argv[-1]))
turns.ready("numpy")
numbers = [turns.wait()]
turns.done(0.25)
{then}
numbers.append(turns.wait())
turns.done(0.5)
turns.finish(np.array(numbers, dtype=np.float32))
"""


def player(folder: Path, then: str = "") -> Player:
    """Returns a side that makes two rounds of a quarter and half a second, and ends in their numbers as weights."""
    python = folder / "python"
    python.write_text(SIDE.format(python=sys.executable, then=then))
    python.chmod(0o755)
    return Player("stub", "stub", Setup(1, 2, 2), "b", python, folder / "log.txt")


def row(side: str, setup: str, *seconds: float, difference: float = 0.0) -> Row:
    return Row(side, setup, seconds, 2.0, 100.0, difference)


def test_a_side_makes_the_rounds_it_is_told_and_sends_its_weights(tmp_path: Path) -> None:
    side = player(tmp_path)
    side.start()
    assert side.versions == {"numpy": np.__version__}
    assert [side.round(7), side.round(8)] == [0.25, 0.5]
    np.testing.assert_array_equal(side.weights(), [7.0, 8.0])
    side.close()


def test_a_side_is_stopped_while_it_is_not_its_turn(tmp_path: Path) -> None:
    side = player(tmp_path)
    side.start()
    os.waitid(os.P_PID, side._process.pid, os.WSTOPPED | os.WNOWAIT)
    side.close()
    assert side._process.returncode == 1, "the end of the runner is the end of the side"


def test_a_side_that_fails_is_left_out_with_its_last_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    side = player(tmp_path, then="sys.exit('the backend has gone')")
    side.start()
    assert attempt([side], lambda player: player.round(0)) == [side]
    assert attempt([side], lambda player: player.round(1)) == []
    assert "stub, 1 process of 2 threads, is left out: the backend has gone" in capsys.readouterr().out


def test_memory_counts_the_children_of_a_side_and_nobody_else() -> None:
    child = "import sys; x = bytearray(50_000_000); print(flush=True); sys.stdin.read()"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", parent], env={**os.environ, MARK: "mine"}, **pipes) as process:
        process.stdout.readline()
        found = megabytes("mine")
        process.communicate()
    assert 50 < found < 150
    assert megabytes("mine") == 0.0


def test_an_environment_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    (tmp_path / "pfl").write_text("a file, no folder")
    with pytest.raises(NoEnvironmentError, match="Not a directory"):
        Environment("pfl", ("pfl==0.6.0",)).python(tmp_path)


def test_the_reason_is_the_last_error_of_pip() -> None:
    assert reason("ERROR: first\nERROR: No matching distribution found for pfl\n\n[notice] a new pip") == (
        "No matching distribution found for pfl"
    )
    assert reason("one\ntwo\n") == "two"
    assert reason("") == "no reason was given"
    with pytest.raises(NoEnvironmentError, match=r"^no network$"):
        run([sys.executable, "-c", "import sys; sys.exit('no network')"])


def test_a_peer_is_free_of_the_constraints_that_it_contradicts() -> None:
    assert "\nattrs==" in constraints(())
    assert "\nattrs==" not in constraints(("attrs",))
    assert "\ntorch==" in constraints(("attrs",))


def test_the_table_has_the_better_set_up_and_the_other_below() -> None:
    lines = table(
        [
            row("loop", "1 process of 2 threads", 0.5, 0.75),
            row("loop", "2 processes of 1 thread", 0.25, 1.0),
            row("Fallow", "1 process of 2 threads", 0.125),
        ]
    )
    assert lines[2:] == [
        "| loop | 2 processes of 1 thread | 0.25 | 0.625 | 2 | 2.0 | 100 |",
        "| Fallow | 1 process of 2 threads | 0.125 | 0.125 | 1 | 2.0 | 100 |",
        "loop with 1 process of 2 threads: 0.5 s a round (median 0.625), start 2.0 s, peak 100 MB",
    ]


def test_a_side_with_other_weights_is_an_error_without_figures() -> None:
    lines = table([row("loop", "1 process", 0.5), row("pfl", "1 process", 0.1, difference=0.02)])
    assert [line for line in lines if "pfl" in line] == [
        "ERROR: pfl, 1 process, ends in other weights: its move differs from the hand-written loop's by 2.0e-02 of it, "
        "and 0.01 is the most that is allowed."
    ]


def test_moves_differ_by_a_share_of_the_other_one() -> None:
    assert difference(np.float32([3.0, 5.0]), np.float32([3.0, 4.0])) == pytest.approx(0.2)
