"""How fast the world turns: client-slots a second on one core, and bytes a client; the paper's, and with everything on.

Each line is measured in a process of its own, harvest draws included, events off. Beside it stands what NumPy takes
to draw the harvest alone: as it comes (``rng.random() < p``) and as Fallow draws it. `make bench-world` runs it.
"""

import json
import os
import platform
import resource
import subprocess
import sys
import time
from itertools import product

import numpy as np

from fallow.experiment import Experiment
from fallow.rng import Purpose, bernoulli, stream
from fallow.simulation.engine import Engine

SIZES = {100: 2000, 10_000: 200, 1_000_000: 12}
"""Clients, and epochs to simulate."""
POLICIES = ("vaoi", "fedavg")
DEVICES = ("the paper's", "everything")
SLOTS = 30
P = 0.1
REPEATS = 3
EVERYTHING = {
    "battery": {"efficiency": 0.9, "self_discharge": 0.001, "idle": 0.02, "cutoff": 2, "wake": 4},
    "cost": {"train": 12, "train_slots": 5, "transmit_slots": 3, "probe": 1, "listen": 1, "download": 2},
}
"""Every feature of a device at once."""


def experiment(policy: str, clients: int, epochs: int, *, everything: bool) -> Experiment:
    more = EVERYTHING if everything else {}
    return Experiment.parse(
        {
            "clients": clients,
            "epochs": epochs,
            "slots_per_epoch": SLOTS,
            "energy": {"p": P},
            "policy": {"name": policy},
            "output": {"events": False},
            **more,
        }
    )


def seconds(work) -> float:
    """Returns the least of a few timings: what the machine can do when nothing else disturbs it."""
    timings = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        work()
        timings.append(time.perf_counter() - begin)
    return min(timings)


def measure(policy: str, clients: int, epochs: int, *, everything: bool) -> dict[str, float]:
    """Runs in a child: rates first, then the memory that a whole run has needed."""
    run = experiment(policy, clients, epochs, everything=everything)
    list(Engine(experiment(policy, 10, 2, everything=everything)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    for _ in Engine(run):
        pass
    elapsed = [time.perf_counter() - begin]
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    for _ in range(REPEATS - 1):
        begin = time.perf_counter()
        for _ in Engine(run):
            pass
        elapsed.append(time.perf_counter() - begin)

    rows = max(1, min(SLOTS, 2**20 // clients))
    rng = stream(0, Purpose.HARVEST)
    turns = max(1, epochs * SLOTS // rows // 4)
    plain = seconds(lambda: [rng.random((rows, clients)) < P for _ in range(turns)])
    ours = seconds(lambda: [bernoulli(rng, P, (rows, clients)) for _ in range(turns)])
    cells = rows * clients * turns
    return {
        "world": clients * epochs * SLOTS / min(elapsed),
        "plain": cells / plain,
        "ours": cells / ours,
        "bytes": memory / clients,
    }


def main() -> None:
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}, one core, p_bc = {P}")
    print("client-slots a second (whole world | harvest alone, rng.random() < p | harvest alone, Fallow's draw)\n")
    head = f"{'plain draw':>12}{'our draw':>11}{'bytes a client':>16}"
    print(f"{'clients':>9}  {'policy':8}{'devices':>12}{'world':>10}{head}")
    single = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for clients, epochs in SIZES.items():
        for policy, devices in product(POLICIES, DEVICES):
            command = [sys.executable, __file__, policy, str(clients), str(epochs), devices]
            found = json.loads(subprocess.run(command, env=single, check=True, capture_output=True, text=True).stdout)
            # Below a few megabytes the allocator's pages, not the clients, are what is measured.
            memory = f"{found['bytes']:.0f}" if clients >= 100_000 else "–"
            print(
                f"{clients:>9,}  {policy:8}{devices:>12}{found['world']:>10.2g}{found['plain']:>12.2g}"
                f"{found['ours']:>11.2g}{memory:>16}"
            )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        everything = sys.argv[4:] == ["everything"]
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), everything=everything)))
    else:
        main()
