"""``fallow flower``, but for what takes a real federation (tests/flower/test_federation.py)."""

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from flwr.common.constant import HEARTBEAT_DEFAULT_INTERVAL, HEARTBEAT_PATIENCE

from fallow.cli import app, flower
from fallow.flower.deploy.keys import make_keys
from fallow.flower.server.exchange import LONGEST_PAUSE
from tests.cli.runner import fail, invoke


def test_new_writes_an_app_once(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke(app, "flower", "new", "solar") == "The app is in solar; its README.md has every command.\n"
    code, words = fail(capsys, monkeypatch, "flower", "new", "solar")
    assert (code, words) == (2, "Error: solar is there and not empty; choose another directory.\n")


def test_keys_says_what_it_made(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "solar").mkdir()
    made = invoke(app, "flower", "keys", "solar", "--nodes", "1").split()
    assert made == [f"solar/keys/{name}" for name in ("ca.key", "ca.crt", "server.key", "server.crt", "node-00")] + [
        "solar/keys/node-00.pub"
    ]
    assert invoke(app, "flower", "keys", "solar", "--nodes", "1") == "All keys are in solar/keys already.\n"


@pytest.mark.parametrize("place", ["nowhere", "file"])
def test_keys_makes_no_authority_outside_of_an_app(place: str, tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    code, words = fail(capsys, monkeypatch, "flower", "keys", place)
    assert (code, words) == (2, f"Error: {place} is no directory; `fallow flower new` makes an app's.\n")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_certificates_hold_a_hundred_years_at_most(tmp_path: Path, capsys, monkeypatch) -> None:
    code, words = fail(capsys, monkeypatch, "flower", "keys", str(tmp_path), "--days", "99999999")
    assert code == 2
    assert "99999999 is not in the range" in words


@pytest.mark.parametrize("command", [["new", "solar"], ["keys", "solar"]])
def test_without_flower_there_is_one_sentence(command: list[str], tmp_path: Path) -> None:
    code = "import sys; sys.modules['flwr'] = None; from fallow.cli import main; sys.argv[0] = 'fallow'; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "flower", *command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: Flower is not installed; run pip install 'fallow[flower]'.\n"
    assert list(tmp_path.iterdir()) == []


class CaughtError(Exception):
    """In place of a SuperNode."""


@pytest.fixture
def started(monkeypatch) -> dict[str, Any]:
    """What a SuperNode would be started with."""
    seen: dict[str, Any] = {}

    def supervise(programs, environment, _tell, pause, _explain=None) -> None:
        command, *others = programs().values()
        seen.update(command=command, others=others, environment=environment, pause=pause)
        raise CaughtError

    monkeypatch.setattr(flower, "supervise", supervise)
    return seen


def settings(started: dict[str, Any]) -> dict[str, Any]:
    command = started["command"]
    return tomllib.loads(Path(command[command.index("--node-config") + 1]).read_text())


def test_a_node_has_its_key_its_number_and_a_home_of_its_own(tmp_path: Path, monkeypatch, started) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLWR_HOME", "/another/home")
    make_keys(tmp_path / "keys", nodes=1)
    with pytest.raises(CaughtError):
        invoke(
            app, "flower", "node", "keys/node-00", "--number", "0", "--config", "shade=0.5", "--config", "roof=south"
        )
    home = str(tmp_path / "nodes" / "node-00")
    assert settings(started) == {"fallow-dir": home, "partition-id": 0, "shade": 0.5, "roof": "south"}
    assert started["environment"]["FLWR_HOME"] == f"{home}/flower"
    assert started["environment"]["FLWR_TELEMETRY_ENABLED"] == "0"
    command = started["command"]
    assert command[command.index("--root-certificates") + 1] == "keys/ca.crt"
    assert command[command.index("--auth-supernode-private-key") + 1] == "keys/node-00"
    assert command[command.index("--host") + 1] == "127.0.0.1"
    assert "--insecure" not in command


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("arguments", [["node", "keys/node-00"], ["link", "."]])
def test_nobody_fetches_a_task_without_a_secret_that_is_new_at_each_start(
    arguments: list[str], tmp_path: Path, monkeypatch, started
) -> None:
    monkeypatch.chdir(tmp_path)
    make_keys(tmp_path / "keys", nodes=1)
    secrets = set()
    for _ in range(2):
        with pytest.raises(CaughtError):
            invoke(app, "flower", *arguments)
        command, (carries_out,) = started["command"], started["others"]
        assert command[command.index("--isolation") + 1] == "process"
        secret = Path(command[command.index("--superexec-auth-secret-file") + 1])
        assert carries_out[carries_out.index("--superexec-auth-secret-file") + 1] == str(secret)
        assert mode(secret) == 0o600
        secrets.add(secret.read_bytes())
    assert {len(secret) for secret in secrets} == {32}
    assert len(secrets) == 2


def test_a_node_s_home_is_its_owner_s_alone(tmp_path: Path, monkeypatch, started) -> None:
    monkeypatch.chdir(tmp_path)
    make_keys(tmp_path / "keys", nodes=1)
    with pytest.raises(CaughtError):
        invoke(app, "flower", "node", "keys/node-00")
    assert started["environment"]["FLWR_HOME"].startswith(str(tmp_path / "nodes" / "node-00"))
    assert mode(tmp_path / "nodes" / "node-00") == 0o700


@pytest.mark.parametrize(
    ("host", "reached"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("0.0.0.0", "127.0.0.1"),  # noqa: S104
        ("::", "[::1]"),
        ("192.0.2.7", "192.0.2.7"),
    ],
)
def test_a_link_listens_where_it_is_told_and_is_reached_there(
    host: str, reached: str, tmp_path: Path, monkeypatch, started
) -> None:
    monkeypatch.chdir(tmp_path)
    make_keys(tmp_path / "keys", nodes=0)
    with pytest.raises(CaughtError):
        invoke(app, "flower", "link", "--host", host, "--port", "8123")
    command, (carries_out,) = started["command"], started["others"]
    assert [command[command.index(name) + 1] for name in ("--host", "--port")] == [host, "8123"]
    assert "--enable-supernode-auth" in command
    assert "--insecure" not in [*command, *carries_out]
    assert carries_out[carries_out.index("--runtime-api-address") + 1] == f"{reached}:8123"
    assert command[command.index("--database") + 1] == str(tmp_path / ".flwr" / "superlink.db")
    assert mode(tmp_path / ".flwr") == 0o700


def test_a_link_without_keys_is_one_sentence(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, words = fail(capsys, monkeypatch, "flower", "link")
    assert (code, words) == (2, "Error: keys/ca.crt is not there; `fallow flower keys` makes keys.\n")


@pytest.mark.parametrize(
    ("options", "identity"), [([], "node-00"), (["--identity", 'the "south" roof'], 'the "south" roof')]
)
def test_a_node_without_a_number_has_a_name(options, identity, tmp_path: Path, monkeypatch, started) -> None:
    monkeypatch.chdir(tmp_path)
    make_keys(tmp_path / "keys", nodes=1)
    with pytest.raises(CaughtError):
        invoke(app, "flower", "node", "keys/node-00", *options)
    assert settings(started) == {"fallow-dir": str(tmp_path / "nodes" / "node-00"), "identity": identity}


def test_a_node_without_its_key_is_one_sentence(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, words = fail(capsys, monkeypatch, "flower", "node", "keys/node-00")
    assert (code, words) == (2, "Error: keys/node-00 is not there; `fallow flower keys` makes keys.\n")


@pytest.mark.parametrize("key", ["node-00.pub", "ca.key"])
def test_a_key_that_can_never_work_is_one_sentence(key: str, tmp_path: Path, capsys, monkeypatch, started) -> None:
    make_keys(tmp_path, nodes=1)
    monkeypatch.chdir(tmp_path)
    code, words = fail(capsys, monkeypatch, "flower", "node", key)
    assert (code, started) == (2, {})
    assert f"{key} is no private key of a node" in words


@pytest.mark.parametrize("superlink", ["roof.example", "roof.example:", ":8000", "::1", "https://roof.example:8000"])
def test_a_superlink_without_a_port_is_one_sentence(
    superlink: str, tmp_path: Path, capsys, monkeypatch, started
) -> None:
    make_keys(tmp_path, nodes=1)
    monkeypatch.chdir(tmp_path)
    code, words = fail(capsys, monkeypatch, "flower", "node", "node-00", "--superlink", superlink)
    assert (code, started) == (2, {})
    assert f"--superlink is '{superlink}'; it must be host:port" in words


@pytest.mark.parametrize("superlink", ["roof.example:8000", "192.0.2.7:8000", "[::1]:8000"])
def test_a_superlink_with_a_port_is_taken(superlink: str, tmp_path: Path, monkeypatch, started) -> None:
    make_keys(tmp_path, nodes=1)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CaughtError):
        invoke(app, "flower", "node", "node-00", "--superlink", superlink)
    assert superlink in started["command"]


def test_a_node_that_died_stays_away_until_the_server_has_seen_it_gone(tmp_path: Path, monkeypatch, started) -> None:
    make_keys(tmp_path, nodes=1)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CaughtError):
        invoke(app, "flower", "node", "node-00")
    taken_for_alive = HEARTBEAT_PATIENCE * HEARTBEAT_DEFAULT_INTERVAL
    assert started["pause"] >= taken_for_alive + 5 * LONGEST_PAUSE
