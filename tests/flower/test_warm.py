"""A warm process: it answers calls in children of its own, and what comes of a call when it does not."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fallow.errors import ConfigError
from fallow.flower.node import warm
from fallow.flower.node.warm import TRIES, Apps, with_warm_program
from fallow.flower.node.warm_call import SOCKET, STARTED
from tests.flower.warm_program import train
from tests.processes import is_alive

ROOT = Path(__file__).parents[2]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A node's directory, deeper than the path of a socket may be long, whose cold program says so."""
    home = tmp_path / ("a long name" * 10) / "node"
    home.mkdir(parents=True)
    cold = home / "flwr-clientapp"
    cold.write_text('#!/bin/sh\necho "cold: $@"\n')
    cold.chmod(0o755)
    assert with_warm_program(home, str(home)) == f"{home / 'bin'}:{home}"
    stamp(home).touch()  # no other warm process is started
    return home


def stamp(home: Path) -> Path:
    return home / "warm" / f"{STARTED}-{os.getpid()}"


def call(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [home / "bin" / "flwr-clientapp", *arguments], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture
def owner() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def wait_for(happens: object, what: str) -> None:
    deadline = time.monotonic() + 120
    while not happens():  # type: ignore[operator]
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def test_a_call_is_answered_by_a_child_and_by_the_cold_program_when_the_process_is_gone(
    home: Path, owner: subprocess.Popen[bytes]
) -> None:
    command = [sys.executable, "-m", "tests.flower.warm_program", str(home / "warm"), str(owner.pid)]
    with subprocess.Popen(command, cwd=ROOT) as parent:
        try:
            wait_for((home / "warm" / SOCKET).exists, "the socket")
            assert (home / "warm" / SOCKET).stat().st_mode & 0o777 == 0o600
            one, other = (json.loads(call(home, "--token", word).stdout) for word in ("a b", "c"))
            assert [one["arguments"], other["arguments"]] == [["--token", "a b"], ["--token", "c"]]
            assert one["parent"] == other["parent"] == parent.pid
            assert one["loss"] == other["loss"] == train()
            assert not set(one["draws"]) & set(other["draws"])
            failed = call(home, "fail")
            assert "RuntimeError: on purpose" in failed.stderr
            assert parent.poll() is None
        finally:
            parent.kill()
    done = call(home, "--token", "a b")
    assert (done.returncode, done.stdout) == (0, "cold: --token a b\n")


def test_a_warm_process_does_not_outlive_its_owner(home: Path, owner: subprocess.Popen[bytes], monkeypatch) -> None:
    monkeypatch.setattr(warm, "LOOK", 0.05)
    owner.kill()
    owner.wait()
    warm.WarmProcess(home / "warm", lambda: None, lambda: None, owner.pid).serve()  # it returns
    assert not is_alive(owner.pid)


def test_a_warm_process_is_started_with_the_first_call_and_not_at_once_again(home: Path, monkeypatch) -> None:
    monkeypatch.delenv("FLWR_HOME", raising=False)  # without it, what is started ends at once, and says so
    stamp(home).unlink()
    began = [call(home, str(number)) for number in range(2)]
    assert [one.stdout for one in began] == ["cold: 0\n", "cold: 1\n"]
    assert ["FLWR_HOME" in one.stderr for one in began] == [True, False]
    os.utime(stamp(home), (0, 0))
    assert "FLWR_HOME" in call(home).stderr


def test_without_flower_there_is_no_warm_process(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Flower is not installed"):
        with_warm_program(tmp_path, str(tmp_path))


def test_only_its_owner_may_call(home: Path) -> None:
    places = (home / "warm", home / "bin", home / "bin" / "flwr-clientapp")
    assert {path.stat().st_mode & 0o777 for path in places} == {0o700}


def write_app(folder: Path, body: str) -> None:
    (folder / "roof_app").mkdir(parents=True)
    (folder / "roof_app" / "__init__.py").touch()
    (folder / "roof_app" / "client.py").write_text(body)
    (folder / "pyproject.toml").write_text('[tool.flwr.app.components]\nclientapp = "roof_app.client:app"\n')


def test_an_app_is_prepared_once_and_its_modules_are_let_go_of(tmp_path: Path, capsys) -> None:
    body = """
from fallow.flower.node.client import NodeApp
app = NodeApp(lambda: print("ready"))
"""
    write_app(tmp_path / "apps" / "me.roof.1.0.0.abc", body)
    apps, path = Apps(tmp_path / "apps"), list(sys.path)
    for _ in range(3):
        apps.prepare()
    assert capsys.readouterr().out == "ready\n"
    assert "roof_app.client" not in sys.modules
    assert "roof_app" not in sys.modules
    assert sys.path == path


def test_an_app_that_can_t_be_loaded_is_tried_twice(tmp_path: Path, capsys) -> None:
    write_app(tmp_path / "me.roof.1.0.0.abc", "raise ValueError('half of it')")
    apps = Apps(tmp_path)
    for _ in range(4):
        apps.prepare()
    assert capsys.readouterr().err.count("half of it") == 2 * TRIES  # the line, and the error


def test_without_an_app_there_is_nothing_to_prepare(tmp_path: Path) -> None:
    Apps(tmp_path / "nowhere").prepare()
