"""The runs of a sweep as tasks on a Ray cluster; Ray comes with ``pip install 'fallow[ray]'``.

The sweep's folder lies on a file system that all nodes share, and a worker has a lease there for its run. When a worker
is lost, its lease is taken away and another goes on from the checkpoint.
"""

import os
import socket
import time
from collections import deque
from collections.abc import Generator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from fallow import __version__
from fallow.errors import RunDirectoryError
from fallow.experiment import Experiment
from fallow.runs.layout import is_finished
from fallow.storage.locks import lock
from fallow.sweeps.grid import PlannedRun
from fallow.sweeps.leases import (
    GRACE_SECONDS,
    REPORT_SECONDS,
    give_lease,
    lease_folder,
    read_report,
    report,
    take_lease,
)
from fallow.sweeps.pool import TRIES, RunProgress, answer
from fallow.sweeps.ray_connection import ClusterError, connected, reason

NODE_SECONDS = 60.0
"""How long a node may take to answer."""

LOCK_SECONDS = 120.0
"""How long a worker waits for a run that is locked."""

SEE_SECONDS = 90.0
"""How long it may take until this machine sees that a run is finished."""

Ending = tuple[int, bool, str | None]
"""The epochs done, whether the run is finished, and why not; None in its place is a worker that was lost."""


def run_all(runs: list[PlannedRun], out: Path, address: str, at_a_time: int = 0) -> Generator[RunProgress, None, None]:
    """Carries out runs on a cluster and yields how they go. Closing the iterator ends the tasks.

    Args:
        runs: What to run.
        out: The sweep's folder, which all nodes must see under the same path.
        address: As ``ray.init`` takes it; 'local' starts Ray on this machine alone.
        at_a_time: How many runs; 0 is as many as the cluster has processors, also when nodes come and go.
    """
    if not runs:
        return
    with connected(address) as ray, lease_folder(out.absolute()) as (folder, begin):
        cluster = Cluster(ray)
        cluster.check_nodes(folder)
        finished = []
        try:
            for said in _run_all(cluster, folder, deque((run, 1, begin) for run in runs), at_a_time or len(runs)):
                finished += [said.run.directory] if said.finished else []
                yield said
        finally:
            cluster.end_tasks()
        _wait_to_see(finished)


def _run_all(
    cluster: "Cluster", folder: Path, waiting: deque[tuple[PlannedRun, int, float]], at_a_time: int
) -> Iterator[RunProgress]:
    """Carries out what waits, each (run, which try it is, not before this time)."""
    busy: dict[Path, tuple[PlannedRun, int]] = {}
    while waiting or busy:
        while waiting and len(busy) < at_a_time and time.monotonic() >= waiting[0][2]:
            run, tries, _ = waiting.popleft()
            lease = give_lease(folder)
            cluster.submit(run, lease)
            busy[lease] = (run, tries)
        for lease, epochs in cluster.progress():
            yield RunProgress(busy[lease][0], epochs)
        for lease, ending in cluster.endings():
            run, tries = busy.pop(lease)
            take_lease(lease)
            if ending is not None:
                yield RunProgress(run, *ending)
            elif tries < TRIES:
                waiting.append((run, tries + 1, time.monotonic() + GRACE_SECONDS))
            else:
                yield RunProgress(run, 0, failure=f"its worker was lost {TRIES} times")


def _wait_to_see(directories: list[Path]) -> None:
    """Waits for what other machines wrote: a network file system may remember a while that it was not there."""
    deadline = time.monotonic() + SEE_SECONDS
    while not all(map(is_finished, directories)) and time.monotonic() < deadline:
        time.sleep(REPORT_SECONDS)


class Cluster:
    """A Ray cluster, and the tasks that it is busy with, each known by its lease."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._tasks: dict[Path, Any] = {}
        self._given_up: set[Path] = set()
        self._looked = 0.0
        # Tries are counted here, not by Ray: between two of them the lease must go.
        self._task = ray.remote(num_cpus=1, max_retries=0)(serve_here)

    def check_nodes(self, folder: Path) -> None:
        """Asks every node whether it can take part. A node that does not answer is left to Ray.

        Args:
            folder: Of the leases, which every node must see.

        Raises:
            ClusterError: If one can't.
        """
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        look = self._ray.remote(num_cpus=0, max_retries=0)(find_fault)
        asked = {}
        for node in self._ray.nodes():
            if node["Alive"] and node["Resources"].get("CPU"):
                there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
                task = look.options(scheduling_strategy=there).remote(folder.parent, folder, __version__)
                asked[task] = node["NodeManagerHostname"]
        answered, _ = self._ray.wait(list(asked), num_returns=len(asked), timeout=NODE_SECONDS) if asked else ([], [])
        for task in answered:
            try:
                fault = self._ray.get(task)
            except self._ray.exceptions.RayTaskError as error:
                fault = f"The node {asked[task]} can't run Fallow: {reason(error)}"
            except self._ray.exceptions.RayError:
                continue
            if fault:
                raise ClusterError(fault)

    def submit(self, run: PlannedRun, lease: Path) -> None:
        """Gives a run to the next worker that is free."""
        toml, directory = run.experiment.to_toml(), run.directory.absolute()
        self._tasks[lease] = self._task.remote(lease, toml, directory, Path.cwd(), __version__)

    def progress(self) -> Iterator[tuple[Path, int]]:
        """Yields, every so often, the epochs that the tasks have done; those of dead nodes are given up."""
        if time.monotonic() - self._looked < REPORT_SECONDS:
            return
        self._looked = time.monotonic()
        dead = {node["NodeID"] for node in self._ray.nodes() if not node["Alive"]}
        for lease in self._tasks:
            epochs, node = read_report(lease)
            if node in dead:
                self._given_up.add(lease)
            elif epochs is not None:
                yield lease, epochs

    def endings(self) -> Iterator[tuple[Path, Ending | None]]:
        """Waits a moment for tasks to end, and yields how they did."""
        if not self._tasks:
            time.sleep(REPORT_SECONDS)
            return
        ended, _ = self._ray.wait(list(self._tasks.values()), timeout=REPORT_SECONDS)
        for lease, task in list(self._tasks.items()):
            if task in ended:
                del self._tasks[lease]
                yield lease, self._ending(task)
            elif lease in self._given_up:  # where a machine fell silent, Ray itself would wait for minutes
                del self._tasks[lease]
                self._ray.cancel(task, force=True)
                yield lease, None

    def end_tasks(self) -> None:
        """Ends all tasks, and waits until their workers are gone."""
        tasks = list(self._tasks.values()) if self._ray.is_initialized() else []
        for task in tasks:
            self._ray.cancel(task, force=True)
        if tasks:
            self._ray.wait(tasks, num_returns=len(tasks), timeout=GRACE_SECONDS)

    def _ending(self, task: Any) -> Ending | None:
        try:
            ending: Ending = self._ray.get(task)
        except self._ray.exceptions.RayTaskError as error:  # it could not even begin
            return 0, False, reason(error)
        except self._ray.exceptions.RayError:
            return None
        return ending


def find_fault(out: Path, mark: Path, version: str) -> str | None:
    """Returns why this node can't take part in a sweep, in words; None if it can.

    Args:
        out: The sweep's folder.
        mark: What the sweep has just put there.
        version: Of Fallow, on the machine of the sweep.
    """
    host = socket.gethostname()
    if not mark.exists():
        return f"The node {host} does not see {out}; put --out on a file system that all nodes share under one path."
    if __version__ != version:
        return f"The node {host} has Fallow {__version__}, not {version}; install the same version on all nodes."
    return None


def serve_here(lease: Path, toml: str, directory: Path, here: Path, version: str) -> Ending:
    """Carries out a run on the node that this is; the arguments are those of `serve`."""
    import ray

    return serve(ray.get_runtime_context().get_node_id(), lease, toml, directory, here, version)


def serve(node: str, lease: Path, toml: str, directory: Path, here: Path, version: str) -> Ending:
    """Carries out a run for as long as its lease is there, and returns how it ended.

    Args:
        node: The id of this node.
        lease: The worker's right to do it.
        toml: The experiment.
        directory: Of the run.
        here: The working directory of the sweep.
        version: Of Fallow, on the machine of the sweep.
    """
    fault = find_fault(lease.parents[1], lease, version)
    if fault:
        return 0, False, fault
    report(lease, 0, node)
    if here.is_dir():  # settings may name files and modules in the working directory
        os.chdir(here)
    _wait_for_writer(directory)
    read = partial(Experiment.from_toml, toml)
    return answer(read, directory, lambda epochs: report(lease, epochs, node), REPORT_SECONDS)


def _wait_for_writer(directory: Path) -> None:
    """Waits, a while, for the lock of a lost worker: a file server may keep it after the worker's machine is gone."""
    deadline = time.monotonic() + LOCK_SECONDS
    while directory.exists() and time.monotonic() < deadline:
        try:
            lock(directory).close()
        except RunDirectoryError:
            continue
        except OSError:  # there are no locks to be had; the run itself says so
            return
        return
