"""A Ray cluster on this machine's loopback.

As a program it prints its address; for each line that it reads it adds a node, and prints that node's process and name.
"""

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from subprocess import PIPE, Popen

NODE = {"node_ip_address": "127.0.0.1", "num_cpus": 1, "include_dashboard": False, "include_log_monitor": False}


@dataclass(frozen=True)
class RayCluster:
    address: str
    environment: dict[str, str]
    process: "Popen[str]"

    def add_node(self) -> tuple[int, str]:
        print(file=self.process.stdin, flush=True)
        pid, name = self.process.stdout.readline().split()
        return int(pid), name


@contextmanager
def ray_cluster() -> Iterator[RayCluster]:
    """Starts a cluster of one node with one processor; in the end nothing of it is left."""
    folder = tempfile.mkdtemp(prefix="ray")  # the path of a socket must be short
    environment = os.environ | {
        "RAY_TMPDIR": folder,
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # else Ray takes 127.0.0.1 for the machine's other address
    }
    command = [sys.executable, __file__]
    with Popen(command, stdin=PIPE, stdout=PIPE, text=True, env=environment, start_new_session=True) as process:
        try:
            yield RayCluster(process.stdout.readline().strip(), environment, process)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args=NODE)
    print(cluster.address, flush=True)
    for _ in sys.stdin:
        node = cluster.add_node(**NODE)
        print(node.all_processes["raylet"][0].process.pid, node.node_id, flush=True)


if __name__ == "__main__":
    main()
