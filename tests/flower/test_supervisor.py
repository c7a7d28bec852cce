"""A program that is supervised: started again whatever ends it, and ended with all that it started."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fallow.flower.deploy import supervisor
from tests.processes import is_alive

DEADLINE = 60.0

SUPERVISE = """
import sys
from importlib.util import module_from_spec, spec_from_file_location

# From its file: the rest of the command line takes seconds to load.
spec = spec_from_file_location("supervisor", sys.argv[2])
supervisor = module_from_spec(spec)
spec.loader.exec_module(supervisor)
supervisor.GRACE = 1.0
programs = {name: ["sh", "-c", program] for name, program in zip(("it", "its twin"), sys.argv[1].split("@"))}
tell, environment = lambda words: print(words, flush=True), {"PATH": "/usr/bin:/bin"}
supervisor.supervise(lambda: programs, environment, tell, 0.05, lambda seconds: "It lived." if seconds < 60 else "")
"""

PROGRAM = """
echo $$ >> lives
sleep 1000 &
echo $! >> children
wait
"""


STUBBORN = """
trap 'echo $$ >> terms' TERM
echo $$ >> lives
while true; do sleep 0.05; done
"""


def wait(happens: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def numbers(path: Path) -> list[int]:
    return [int(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def supervised(tmp_path: Path):
    started: list[subprocess.Popen[bytes]] = []

    def start(program: str, hangup: signal.Handlers = signal.SIG_DFL) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", SUPERVISE, program, supervisor.__file__]
        before = signal.signal(signal.SIGHUP, hangup)  # whatever the tests were started under
        try:
            with (tmp_path / "words").open("wb") as words:
                started.append(subprocess.Popen(command, cwd=tmp_path, stdout=words))
        finally:
            signal.signal(signal.SIGHUP, before)
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
    for pid in numbers(tmp_path / "lives") + numbers(tmp_path / "children"):
        if is_alive(pid):
            os.kill(pid, signal.SIGKILL)


def test_a_program_that_ends_is_started_again(supervised, tmp_path: Path) -> None:
    process = supervised("echo $$ >> lives; exit 7")
    wait(lambda: len(numbers(tmp_path / "lives")) >= 3)
    process.terminate()
    assert process.wait(DEADLINE) == 128 + signal.SIGTERM
    assert "it ended with code 7; starting it again in 0.05 seconds. It lived.\n" in (tmp_path / "words").read_text()


@pytest.mark.parametrize("killed", [0, 1])
def test_when_one_of_two_programs_is_gone_both_are_started_again(killed: int, supervised, tmp_path: Path) -> None:
    supervised(f"{PROGRAM}@{PROGRAM}")
    wait(lambda: len(numbers(tmp_path / "children")) == 2)
    first, children = numbers(tmp_path / "lives"), numbers(tmp_path / "children")
    os.kill(first[killed], signal.SIGKILL)
    wait(lambda: len(numbers(tmp_path / "children")) == 4)
    assert not any(map(is_alive, first + children))
    assert all(map(is_alive, numbers(tmp_path / "lives")[2:]))
    assert "ended with code -9; starting it again" in (tmp_path / "words").read_text()


def test_what_programs_write_is_their_owner_s_alone(supervised, tmp_path: Path) -> None:
    supervised(PROGRAM)
    wait(lambda: len(numbers(tmp_path / "children")) == 1)
    assert (tmp_path / "lives").stat().st_mode & 0o777 == 0o600


def test_what_a_killed_program_leaves_behind_is_killed_before_the_next_life(supervised, tmp_path: Path) -> None:
    supervised(PROGRAM)
    wait(lambda: len(numbers(tmp_path / "children")) == 1)
    (first,), (child,) = numbers(tmp_path / "lives"), numbers(tmp_path / "children")
    os.kill(first, signal.SIGKILL)
    wait(lambda: len(numbers(tmp_path / "lives")) == 2)
    assert not is_alive(child)
    assert is_alive(numbers(tmp_path / "lives")[1])


@pytest.mark.parametrize("word", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_whoever_stops_the_supervisor_stops_the_program_and_its_children(word: int, supervised, tmp_path: Path) -> None:
    process = supervised(PROGRAM)
    wait(lambda: len(numbers(tmp_path / "children")) == 1)
    process.send_signal(word)
    process.wait(DEADLINE)
    assert not any(map(is_alive, numbers(tmp_path / "lives") + numbers(tmp_path / "children")))
    assert len(numbers(tmp_path / "lives")) == 1


@pytest.mark.parametrize("word", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_second_signal_does_not_save_a_stubborn_program(word: int, supervised, tmp_path: Path) -> None:
    process = supervised(STUBBORN)
    wait(lambda: len(numbers(tmp_path / "lives")) == 1)
    process.send_signal(word)
    wait(lambda: len(numbers(tmp_path / "terms")) == 1)
    process.send_signal(word)
    process.wait(DEADLINE)
    assert not any(map(is_alive, numbers(tmp_path / "lives")))


def test_what_nohup_ignores_stays_ignored(supervised, tmp_path: Path) -> None:
    process = supervised(PROGRAM, signal.SIG_IGN)
    wait(lambda: len(numbers(tmp_path / "children")) == 1)
    process.send_signal(signal.SIGHUP)
    time.sleep(3 * supervisor.LOOK)
    assert process.poll() is None
    process.terminate()
    assert process.wait(DEADLINE) == 128 + signal.SIGTERM
    assert len(numbers(tmp_path / "lives")) == 1


def test_no_wait_is_without_an_end(monkeypatch) -> None:
    """A signal that comes just before a call that blocks is answered when that call is over, and no sooner."""
    started = []

    class Watched(subprocess.Popen):
        def poll(self) -> int | None:
            if not started:
                started.append(self.pid)
                os.kill(os.getpid(), signal.SIGTERM)
            return super().poll()

        def wait(self, timeout: float | None = None) -> int:
            assert timeout is not None
            return super().wait(timeout)

    monkeypatch.setattr(supervisor.subprocess, "Popen", Watched)
    with pytest.raises(SystemExit) as end:
        supervisor.supervise(lambda: {"it": ["sleep", "1000"]}, {"PATH": "/usr/bin:/bin"}, print, 0.05)
    assert end.value.code == 128 + signal.SIGTERM
    assert [is_alive(pid) for pid in started] == [False]


@pytest.mark.parametrize(("word", "end"), [(signal.SIGTERM, SystemExit), (signal.SIGINT, KeyboardInterrupt)])
def test_a_stop_while_the_program_is_being_started_leaves_nothing_behind(word: int, end: type, monkeypatch) -> None:
    started = []

    class Interrupted(subprocess.Popen):
        def __init__(self, *arguments, **options) -> None:
            super().__init__(*arguments, **options)
            started.append(self.pid)
            os.kill(os.getpid(), word)

    monkeypatch.setattr(supervisor.subprocess, "Popen", Interrupted)
    with pytest.raises(end):
        supervisor.supervise(lambda: {"it": ["sleep", "1000"]}, {"PATH": "/usr/bin:/bin"}, print, 0.05)
    assert [is_alive(pid) for pid in started] == [False]
