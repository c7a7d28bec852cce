"""A sweep on Ray without Ray: what is refused, and what is done when workers are lost. e2e/ has a real cluster."""

import socket
import sys
from collections import deque
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from fallow import __version__
from fallow.errors import RunDirectoryError
from fallow.sweeps import ray_pool
from fallow.sweeps.grid import PlannedRun, plan
from fallow.sweeps.leases import give_lease, report
from fallow.sweeps.pool import carry_out
from fallow.sweeps.ray_connection import MULTI_NODE, SETTINGS, ClusterError, connected, reason
from fallow.sweeps.ray_pool import Cluster, Ending, serve
from tests.cli.runner import fail

SMALL = {"clients": 8, "epochs": 6, "energy": {"p": 0.5}, "policy": {"k": 2}}
needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray: pip install 'fallow[ray]'")


@pytest.fixture(autouse=True)
def _environment(monkeypatch, tmp_path: Path) -> None:
    """Ray's settings do not outlive a test, and 'auto' finds no cluster of this machine."""
    for name in [*SETTINGS, MULTI_NODE]:
        monkeypatch.setenv(name, "0")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path / "temporary"))


@pytest.fixture
def nobody() -> Iterator[str]:
    """An address at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{taken.getsockname()[1]}"


def test_without_ray_the_sentence_says_what_to_install(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    code, words = fail(capsys, monkeypatch, "sweep", "--out", str(tmp_path / "out"), "--ray", "auto")
    assert code == 2
    assert words == "Error: Running on a cluster needs Ray: pip install 'fallow[ray]'.\n"
    assert not (tmp_path / "out").exists()


@needs_ray
@pytest.mark.parametrize("prefix", ["", "ray://"])
@pytest.mark.parametrize("command", ["sweep", "compare"])
def test_an_address_that_does_not_answer_is_refused_before_anything_is_written(
    command: str, prefix: str, nobody: str, tmp_path: Path, capsys, monkeypatch
) -> None:
    code, words = fail(capsys, monkeypatch, command, "--out", str(tmp_path / "out"), "--ray", prefix + nobody)
    assert code == 2
    assert words.startswith(f"Error: No Ray cluster answers at {prefix}{nobody}: Connection refused; start one with")
    assert not (tmp_path / "out").exists()


@needs_ray
@pytest.mark.parametrize("known", ["file", "variable"])
def test_auto_is_refused_if_the_cluster_that_it_stands_for_is_gone(
    known: str, nobody: str, tmp_path: Path, capsys, monkeypatch
) -> None:
    if known == "variable":
        monkeypatch.setenv("RAY_ADDRESS", nobody)
    else:
        (tmp_path / "temporary" / "ray").mkdir(parents=True)
        (tmp_path / "temporary" / "ray" / "ray_current_cluster").write_text(nobody)
    code, words = fail(capsys, monkeypatch, "sweep", "--out", str(tmp_path / "out"), "--ray", "auto")
    assert code == 2
    assert f"No Ray cluster answers at {nobody}" in words


def test_local_is_refused_if_ray_would_listen_to_other_machines(monkeypatch) -> None:
    monkeypatch.delenv(MULTI_NODE)
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace())
    with pytest.raises(ClusterError, match="listen to other machines"), connected("local"):
        pass


def test_a_sweep_with_nothing_left_to_run_asks_for_no_cluster(nobody: str, tmp_path: Path) -> None:
    assert list(ray_pool.run_all([], tmp_path, nobody)) == []


class PlayedCluster:
    """Ends every task at once: as the run's seed says, with the outcomes in their order."""

    def __init__(self, outcomes: dict[int, list[Ending | None]]) -> None:
        self.outcomes = outcomes
        self.busy: dict[Path, PlannedRun] = {}
        self.past: list[Path] = []
        self.most = 0

    def submit(self, run: PlannedRun, lease: Path) -> None:
        assert lease.exists()
        assert not any(earlier.exists() for earlier in self.past)
        self.busy[lease] = run
        self.most = max(self.most, len(self.busy))

    def progress(self) -> Iterator[tuple[Path, int]]:
        yield from ((lease, 1) for lease in self.busy)

    def endings(self) -> Iterator[tuple[Path, Ending | None]]:
        for lease, run in list(self.busy.items()):
            del self.busy[lease]
            self.past.append(lease)
            yield lease, self.outcomes[run.experiment.seed].pop(0)


def play(outcomes: dict[int, list[Ending | None]], at_a_time: int, out: Path) -> tuple[PlayedCluster, list]:
    cluster = PlayedCluster(outcomes)
    runs = plan(SMALL, {"seed": list(outcomes)}, out)
    said = list(ray_pool._run_all(cluster, out, deque((run, 1, 0.0) for run in runs), at_a_time))
    ends = [(one.run.experiment.seed, one.epochs, one.failure) for one in said if one.finished or one.failure]
    return cluster, ends


def test_no_more_runs_at_a_time_than_asked_for(tmp_path: Path) -> None:
    whole: Ending = (6, True, None)
    cluster, ends = play({seed: [whole] for seed in range(5)}, 2, tmp_path)
    assert cluster.most == 2
    assert ends == [(seed, 6, None) for seed in range(5)]


def test_a_lost_worker_costs_one_try_of_three_and_a_failure_costs_all(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(ray_pool, "GRACE_SECONDS", 0.0)
    outcomes: dict[int, list[Ending | None]] = {
        0: [None, None, (6, True, None)],
        1: [None, None, None],
        2: [(4, False, "wrong")],
    }
    _, ends = play(outcomes, 3, tmp_path)
    assert ends == [(2, 4, "wrong"), (0, 6, None), (1, 0, "its worker was lost 3 times")]
    assert outcomes == {0: [], 1: [], 2: []}


def test_a_lost_run_waits_until_its_worker_must_have_found_out(tmp_path: Path, monkeypatch) -> None:
    clock = [100.0]
    begun = []
    monkeypatch.setattr(ray_pool, "time", SimpleNamespace(monotonic=lambda: clock[0]))

    class Clocked(PlayedCluster):
        def submit(self, run: PlannedRun, lease: Path) -> None:
            begun.append(clock[0])
            super().submit(run, lease)

        def endings(self) -> Iterator[tuple[Path, Ending | None]]:
            yield from super().endings()
            clock[0] += 1.0

    run = plan(SMALL, {}, tmp_path)[0]
    list(ray_pool._run_all(Clocked({0: [None, (6, True, None)]}), tmp_path, deque([(run, 1, 102.0)]), 1))
    assert begun == [102.0, 107.0]


def test_the_tasks_of_a_dead_node_are_given_up(tmp_path: Path) -> None:
    cancelled = []
    ray = SimpleNamespace(
        remote=lambda **_: lambda _: SimpleNamespace(remote=lambda lease, *_: f"task of {lease.name}"),
        nodes=lambda: [{"NodeID": "north", "Alive": True}, {"NodeID": "south", "Alive": False}],
        wait=lambda tasks, **_: ([], tasks),
        cancel=lambda task, **_: cancelled.append(task),
    )
    cluster = Cluster(ray)
    north, south = give_lease(tmp_path), give_lease(tmp_path)
    for lease in (north, south):
        cluster.submit(plan(SMALL, {}, tmp_path)[0], lease)
    report(north, 3, "north")
    report(south, 5, "south")
    assert list(cluster.progress()) == [(north, 3)]
    assert list(cluster.endings()) == [(south, None)]
    assert cancelled == [f"task of {south.name}"]


def test_a_node_that_does_not_see_the_lease_says_so_and_writes_nothing(tmp_path: Path) -> None:
    run = plan(SMALL, {}, tmp_path / "out")[0]
    lease = tmp_path / "out" / "leases" / "lost"
    outcome = serve("north", lease, run.experiment.to_toml(), run.directory, tmp_path, __version__)
    assert outcome == (
        0,
        False,
        f"The node {socket.gethostname()} does not see {tmp_path / 'out'}; put --out on a file system that all nodes "
        "share under one path.",
    )
    assert list(tmp_path.iterdir()) == []


def test_a_node_with_another_version_says_so(tmp_path: Path) -> None:
    run = plan(SMALL, {}, tmp_path / "out")[0]
    _, finished, failure = serve("north", give_lease(tmp_path), run.experiment.to_toml(), run.directory, tmp_path, "0")
    assert not finished
    assert failure.startswith(f"The node {socket.gethostname()} has Fallow {__version__}, not 0;")


def test_a_run_that_a_lost_worker_finished_is_not_run_again(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # a worker goes to the working directory of the sweep
    run = plan(SMALL, {}, tmp_path)[0]
    carry_out(run.experiment, run.directory, lambda _: None)
    before = {path.name: path.stat().st_ino for path in run.directory.iterdir()}
    outcome = serve("north", give_lease(tmp_path), run.experiment.to_toml(), run.directory, tmp_path, __version__)
    assert outcome == (6, True, None)
    assert {path.name: path.stat().st_ino for path in run.directory.iterdir()} == before


def test_a_run_can_be_stopped_before_it_writes_an_epoch(tmp_path: Path) -> None:
    run = plan(SMALL, {}, tmp_path)[0]

    def stop(epochs: int) -> None:
        if epochs == 3:
            raise InterruptedError

    with pytest.raises(RunDirectoryError):  # an OSError of any kind is taken for one of the disk
        carry_out(run.experiment, run.directory, stop)
    assert len((run.directory / "epochs.csv").read_text().splitlines()) == 1 + 2


def test_a_run_can_be_stopped_before_it_writes_anything(tmp_path: Path) -> None:
    run = plan(SMALL, {}, tmp_path)[0]

    def stop(_: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        carry_out(run.experiment, run.directory, stop)
    assert list(tmp_path.iterdir()) == []


def test_files_are_looked_for_where_the_sweep_was_begun(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir("/")
    (tmp_path / "trace.csv").write_text("3\n1\n")
    run = plan(SMALL | {"energy": {"model": "trace", "path": "trace.csv"}}, {}, tmp_path / "out")[0]
    outcome = serve("north", give_lease(tmp_path), run.experiment.to_toml(), run.directory, tmp_path, __version__)
    assert outcome == (6, True, None)


def test_a_worker_waits_for_a_lock_that_outlives_its_owner(tmp_path: Path, monkeypatch) -> None:
    answers = [RunDirectoryError("locked"), RunDirectoryError("locked"), SimpleNamespace(close=lambda: None)]

    def lock(_: Path) -> SimpleNamespace:
        answer = answers.pop(0)
        if isinstance(answer, RunDirectoryError):
            raise answer
        return answer

    monkeypatch.setattr(ray_pool, "lock", lock)
    ray_pool._wait_for_writer(tmp_path)
    assert answers == []
    ray_pool._wait_for_writer(tmp_path / "not begun")


def test_the_end_of_a_sweep_waits_until_every_finished_run_is_seen(tmp_path: Path, monkeypatch) -> None:
    answers = [False, True, False, True, True]
    monkeypatch.setattr(ray_pool, "REPORT_SECONDS", 0.0)
    monkeypatch.setattr(ray_pool, "is_finished", lambda _: answers.pop(0))
    ray_pool._wait_to_see([tmp_path / "one", tmp_path / "two"])
    assert answers == []


def test_the_reason_of_an_error_is_one_line_that_ends() -> None:
    assert reason(ValueError("Invalid address\nformat: x")) == "Invalid address format: x."
    traceback = 'ray::serve() (pid=1)\n  File "a.py", line 3, in f\nModuleNotFoundError: No module'
    assert reason(RuntimeError(traceback)) == "ModuleNotFoundError: No module."
    assert reason(ConnectionError()) == "ConnectionError."
    assert reason(ValueError("It is gone.")) == "It is gone."
