"""pfl in one process, or in several that its documentation starts by hand: an address and a rank for each."""

import os
import socket
import subprocess
import sys

import torch
from workloads import WORKLOADS, Workload

from peers.turns import Setup, Turns

RANK = "PFL_WORKER_RANK"


def play(turns: Turns, load: Workload, setup: Setup) -> None:
    torch.set_num_threads(setup.threads)
    others = start_others(load, setup) if setup.processes > 1 else []
    from peers.pfl_rounds import train  # pfl reads its rank when it is loaded

    train(turns, load, setup)
    for process in others:
        process.wait()


def start_others(load: Workload, setup: Setup) -> list[subprocess.Popen[bytes]]:
    """Makes this process the first, and starts the others."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    os.environ["PFL_WORKER_ADDRESSES"] = ",".join([f"localhost:{port}"] * setup.processes)  # all meet at the first
    os.environ[RANK] = "0"
    workload = next(name for name, other in WORKLOADS.items() if other == load)
    numbers = map(str, (setup.processes, setup.threads, setup.rounds))
    command = [sys.executable, "-m", "peers.pfl", workload, *numbers]
    return [subprocess.Popen(command, env={**os.environ, RANK: str(rank)}) for rank in range(1, setup.processes)]


if __name__ == "__main__":
    from peers.pfl_rounds import train

    spread = Setup(*map(int, sys.argv[2:]))
    torch.set_num_threads(spread.threads)
    train(None, WORKLOADS[sys.argv[1]], spread)
