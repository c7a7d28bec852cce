"""Sweeps on a real Ray cluster: nodes and workers are killed, and the table is that of the local pool."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

from fallow.storage.locks import lock
from fallow.sweeps.leases import PREFIX, read_report
from tests.e2e.ray_cluster import RayCluster, ray_cluster
from tests.processes import descendants, is_alive, open_files

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray: fallow[ray]"),
]

ROOT = Path(__file__).parents[2]
SETTINGS = ("clients=8", "epochs=150", "energy.p=0.5", "output.checkpoint_every=10")
HERE = "tests.e2e.test_ray_sweep"
Found = TypeVar("Found")


@dataclass(frozen=True)
class Patient:
    """Takes its time, so that there is time to kill it."""

    def init(self, clients):
        return None

    def select(self, state, view, rng):
        time.sleep(0.02)
        return state, rng.random(view.clients) < 0.5


@dataclass(frozen=True)
class Deadly:
    """Takes its process down."""

    def init(self, clients):
        return None

    def select(self, state, view, rng):
        os.kill(os.getpid(), signal.SIGKILL)
        return state, np.ones(view.clients, dtype=np.bool_)


@dataclass(frozen=True)
class Wrong:
    def init(self, clients):
        return None

    def select(self, state, view, rng):
        raise ValueError("not today")


def command(out: Path, *more: str, policies: str = f"{HERE}:Patient", seeds: str = "0,1") -> list[str]:
    settings = [f"--set={setting}" for setting in SETTINGS]
    grid = ["--grid", f"policy.name={policies}", "--grid", f"seed={seeds}"]
    return [sys.executable, "-m", "fallow", "sweep", *settings, *grid, "--out", str(out), *more]


def until(condition: Callable[[], Found], process: subprocess.Popen) -> Found:
    """Waits for something that happens while a process runs, and returns it."""
    while not (found := condition()):
        assert process.poll() is None, "the sweep was over too soon"
        time.sleep(0.05)
    return found


def checkpoints(out: Path) -> list[Path]:
    return list(out.glob("*/checkpoint.fallow"))


def leases(out: Path) -> list[Path]:
    return list(out.glob(f"{PREFIX}*/*"))


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster() as found:
        yield found


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> bytes:
    """The table of the local pool."""
    out = tmp_path_factory.mktemp("local")
    subprocess.run(command(out, "--workers", "2"), cwd=ROOT, check=True, capture_output=True)
    return (out / "table.csv").read_bytes()


def test_runs_of_a_killed_node_go_on_from_their_checkpoints_and_the_table_is_that_of_the_local_pool(
    cluster: RayCluster, table: bytes, tmp_path: Path
) -> None:
    raylet, node = cluster.add_node()
    sweep = [*command(tmp_path), "--ray", cluster.address]
    with subprocess.Popen(sweep, cwd=ROOT, env=cluster.environment, stdout=subprocess.PIPE, text=True) as process:

        def both_busy() -> bool:
            return len(checkpoints(tmp_path)) == 2 and node in {read_report(lease)[1] for lease in leases(tmp_path)}

        until(both_busy, process)
        configs = {path: path.stat().st_ino for path in tmp_path.glob("*/config.toml")}
        workers = descendants(raylet)
        os.kill(raylet, signal.SIGKILL)
        for pid in workers:
            with suppress(ProcessLookupError):  # a worker ends when it misses its raylet
                os.kill(pid, signal.SIGKILL)
        said, _ = process.communicate()
    assert process.returncode == 0
    assert "2 of 2 runs finished" in said
    assert (tmp_path / "table.csv").read_bytes() == table
    assert {path: path.stat().st_ino for path in configs} == configs  # to begin again is to write it again


def test_a_killed_worker_is_replaced_and_runs_that_fail_are_listed(
    cluster: RayCluster, table: bytes, tmp_path: Path
) -> None:
    policies = f"{HERE}:Patient,{HERE}:Wrong,{HERE}:Deadly"
    sweep = [*command(tmp_path, policies=policies, seeds="0"), "--ray", cluster.address]
    with subprocess.Popen(
        sweep, cwd=ROOT, env=cluster.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        run = until(lambda: checkpoints(tmp_path), process)[0].parent
        writer, *_ = until(lambda: writers_of(run, cluster.process.pid), process)
        os.kill(writer, signal.SIGKILL)
        said, failures = process.communicate()
    assert process.returncode == 1
    assert "1 of 3 runs finished" in said
    assert "raylet" not in said  # Ray's own words would stand between the table's
    assert (tmp_path / "table.csv").read_bytes().splitlines() == table.splitlines()[:2]
    said_last = [line for line in failures.splitlines() if not line.startswith("epochs, ")]  # how far it is
    wrong, deadly = sorted(said_last, reverse=True)  # and Ray adds nothing
    assert wrong.startswith(f"Failed: name={HERE}_Wrong,seed=0: ")
    assert "ValueError: not today" in wrong
    assert deadly == f"Failed: name={HERE}_Deadly,seed=0: its worker was lost 3 times"


def writers_of(run: Path, above: int) -> list[int]:
    """Returns the processes, below another, that have a run's table open."""
    return [pid for pid in descendants(above) if str(run / "epochs.csv") in open_files(pid)]


def test_a_sweep_that_is_stopped_or_killed_goes_on(cluster: RayCluster, table: bytes, tmp_path: Path) -> None:
    sweep = [*command(tmp_path), "--ray", cluster.address, "--workers", "1"]
    first = tmp_path / f"name={HERE}_Patient,seed=0"
    for how, code in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)):
        with subprocess.Popen(sweep, cwd=ROOT, env=cluster.environment, stderr=subprocess.PIPE, text=True) as process:
            until(lambda: any(read_report(lease)[0] for lease in leases(tmp_path)), process)
            assert len(leases(tmp_path)) == 1
            process.send_signal(how)
            _, said = process.communicate()
        assert process.returncode == code
        if how == signal.SIGINT:
            assert said.splitlines()[-1] == "Stopped; the same command goes on from the last checkpoints."
            assert leases(tmp_path) == []
            lock(first, 0.0).close()  # its worker is gone
    subprocess.run(sweep, cwd=ROOT, env=cluster.environment, check=True, capture_output=True)
    assert (tmp_path / "table.csv").read_bytes() == table
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_node_that_does_not_see_the_folder_is_named_before_anything_runs(cluster: RayCluster, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from fallow.sweeps import ray_connection, ray_pool\n"
        "with ray_connection.connected(sys.argv[1]) as ray: ray_pool.Cluster(ray).check_nodes(Path(sys.argv[2]))"
    )
    ask = [sys.executable, "-c", code, cluster.address]
    subprocess.run([*ask, str(tmp_path)], env=cluster.environment, check=True)
    blind = subprocess.run([*ask, str(tmp_path / "out" / "mark")], env=cluster.environment, stderr=subprocess.PIPE)
    assert f"The node {socket.gethostname()} does not see {tmp_path / 'out'};" in blind.stderr.decode()


def test_local_listens_on_the_loopback_alone_and_leaves_no_process(table: bytes, tmp_path: Path) -> None:
    out, folder = tmp_path / "out", tempfile.mkdtemp(prefix="ray")
    sweep = [*command(out), "--ray", "local"]
    with subprocess.Popen(sweep, cwd=ROOT, env=os.environ | {"RAY_TMPDIR": folder}, stdout=subprocess.PIPE) as process:
        until(lambda: checkpoints(out), process)
        family = [process.pid, *descendants(process.pid)]
        addresses = [address for pid in family for address in listening(pid)]
        process.communicate()
    shutil.rmtree(folder)
    assert process.returncode == 0
    assert len(addresses) > 3
    assert {ip_address(address).is_loopback for address in addresses} == {True}
    assert (out / "table.csv").read_bytes() == table
    assert [pid for pid in family if is_alive(pid)] == []


def listening(pid: int) -> list[str]:
    """Returns the addresses at which a process accepts connections from other machines, or would."""
    own = open_files(pid)
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            cells = line.split()
            if cells[3] == "0A" and f"socket:[{cells[9]}]" in own:
                words = bytes.fromhex(cells[1].split(":")[0])
                packed = b"".join(words[i : i + 4][::-1] for i in range(0, len(words), 4))
                address = ip_address(packed)
                found.append(str(getattr(address, "ipv4_mapped", None) or address))
    return found
