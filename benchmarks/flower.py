"""What a federation costs in processor time, memory and bytes: the old way beside the new one, in one run.

A node in a process of its own that is asked how it stands; what goes over the wire; and a round of the same experiment
in this process and in Flower's simulation, beside an epoch of the engine. The task is trivial (one step on few tiny
images), so what is measured is the way there. Processor time, because other work on the machine changes it less.
"""

import argparse
import json
import logging
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ |= {"FLWR_TELEMETRY_ENABLED": "0", "RAY_USAGE_STATS_ENABLED": "0"}

from flower_node import WAYS
from flwr.app import ArrayRecord, Context, Message, RecordDict
from flwr.serverapp import Grid, ServerApp
from flwr.simulation import run_simulation
from flwr.supercore.inflatable.inflatable_object import get_all_nested_objects

from fallow.experiment import Experiment
from fallow.flower import LocalGrid, experiment_client, experiment_strategy
from fallow.flower.experiment import Scorer
from fallow.flower.node.client import NodeApp
from fallow.flower.wire.arrays import from_array_record, pack_model, to_array_record
from fallow.flower.wire.messages import Query, Standing
from fallow.flower.wire.records import to_records
from fallow.simulation.engine import Engine

ROUNDS = 12
WARM_UP = 2
"""Rounds that are not counted: the first loads the dataset, and every node begins its memory."""

SAMPLES = 1500
"""Of the digits, for training."""


def experiment(clients: int, policy: str) -> Experiment:
    return Experiment.parse(
        {
            "clients": clients,
            "epochs": ROUNDS,
            "slots_per_epoch": 4,
            "energy": {"p": 1.0},
            "cost": {"train": 1},
            "policy": {"name": policy, "k": 10},
            "data": {"samples_per_client": min(4, SAMPLES // clients), "partition": "iid"},
            "learning": {"mode": "train", "eval_every": ROUNDS},
            "compute": {"strategy": "spread", "workers": 1},
        }
    )


class Clock:
    """Notes when rounds end, in processor time of this process or by the wall."""

    def __init__(self, *, wall: bool = False) -> None:
        self._now = time.perf_counter if wall else time.process_time
        self.times = [self._now()]

    def __call__(self, number: int, arrays: ArrayRecord) -> None:  # noqa: ARG002
        self.times.append(self._now())

    def median(self) -> float:
        """Returns the median seconds of a round."""
        return statistics.median(b - a for a, b in zip(self.times[WARM_UP:], self.times[WARM_UP + 1 :], strict=False))


def in_engine(setup: Experiment, *, wall: bool = False) -> float:
    clock = Clock(wall=wall)
    for record in Engine(setup, workers=1):
        clock(record.epoch, ArrayRecord())
    return clock.median()


def in_process(setup: Experiment, folder: Path, *, apart: bool = False) -> float:
    """Returns the seconds of a round. Nodes that are apart are made for each message, and share nothing."""
    clock, app = Clock(), experiment_client(setup, directory=folder / "nodes")
    assert isinstance(app, NodeApp)
    if apart:
        app.household = None
    grid = LocalGrid(app, {number + 10: {"partition-id": number} for number in range(setup.clients)})
    experiment_strategy(setup, folder / "server").start(grid, Scorer(setup).initial(), ROUNDS, evaluate_fn=clock)
    return clock.median()


def in_simulation(setup: Experiment, folder: Path, processes: int) -> float:
    clock, app = Clock(wall=True), ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:  # noqa: ARG001
        experiment_strategy(setup, folder / "server").start(grid, Scorer(setup).initial(), ROUNDS, evaluate_fn=clock)

    run_simulation(
        app,
        experiment_client(setup, directory=folder / "nodes"),
        setup.clients,
        backend_config={"client_resources": {"num_cpus": 1}, "init_args": {"num_cpus": processes}},
    )
    return clock.median()


def processor() -> str:
    """Returns the name of the processor, as Linux knows it."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def print_nodes() -> None:
    """Asks a node in a process of its own, in each way."""
    program = [sys.executable, str(Path(__file__).with_name("flower_node.py"))]
    print("a node in a process of its own, asked how it stands")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*program, "prime", folder], check=True)
        for way, words in WAYS.items():
            found = json.loads(subprocess.run([*program, way, folder], check=True, capture_output=True).stdout)
            stays = f", beside {found['stays']:.0f} MB that stay" if "stays" in found else ""
            print(f"  {words:38} {found['seconds']:6.2f} s of a processor, {found['megabytes']:4.0f} MB{stays}")


def print_bytes() -> None:
    """Counts what Flower sends for a message with a model, parameter by parameter as before, and as one array."""
    setup = experiment(10, "vaoi")
    LocalGrid(experiment_client(setup), {})  # messages need an identity of the server
    model = from_array_record(Scorer(setup).initial())
    query = Query("0" * 32, 7, "0" * 32, "features", ideal=False)
    standing = Standing(
        "client-000003", data_size=4, battery=3, capacity=25, train_cost=1, transmit_cost=1, distance=0.5
    )
    forms = {"parameter by parameter": to_array_record(model), "as one array": pack_model(model)}
    print(f"on the wire: a model of {sum(array.nbytes for array in model.values()):,} bytes")
    for words, record in forms.items():
        content = RecordDict({**to_records(query), "model": record})
        count, total = objects(content)
        print(f"  a query with it, {words:24} {count:3} objects, {total:7,} bytes")
    for words, content in (("a query without it", to_records(query)), ("an answer", to_records(standing))):
        count, total = objects(content)
        print(f"  {words:41} {count:3} objects, {total:7,} bytes")


def objects(content: RecordDict) -> tuple[int, int]:
    """Returns how many objects Flower hashes, stores and sends for a message, and their bytes."""
    found = get_all_nested_objects(Message(content, 5, "query"))
    return len(found), sum(len(part.deflate()) for part in found.values())


def print_rounds(clients: int, policy: str, most_apart: int) -> None:
    """Runs one experiment in the engine and in this process."""
    setup = experiment(clients, policy)
    before = in_engine(setup)
    with tempfile.TemporaryDirectory() as folder:
        together = in_process(setup, Path(folder))
    base = (before + in_engine(setup)) / 2
    text = f"  {clients:5} nodes, {policy:9} engine {base * 1000:6.1f} ms, in process {together * 1000:7.1f} ms"
    text += f", {together / base:5.1f} x"
    if clients <= most_apart:
        with tempfile.TemporaryDirectory() as folder:
            apart = in_process(setup, Path(folder), apart=True)
        text += f"; if each answers alone {apart * 1000:7.1f} ms, {apart / base:5.1f} x"
    print(text, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, nargs="*", default=[100, 300, 1000])
    parser.add_argument("--policies", nargs="*", default=["vaoi", "random-k"])
    parser.add_argument("--most-apart", type=int, default=300, help="most nodes of the old way, which is slow")
    parser.add_argument("--simulation", action="store_true", help="Flower's simulation too, by the wall clock")
    arguments = parser.parse_args()
    logging.getLogger("flwr").setLevel(logging.ERROR)
    print(f"{processor()}, {os.cpu_count()} processors, Python {platform.python_version()}")
    print_nodes()
    print_bytes()
    print(f"an epoch of the engine and a round in this process, the median of {ROUNDS - WARM_UP}")
    for policy in arguments.policies:
        for clients in arguments.clients:
            print_rounds(clients, policy, arguments.most_apart)
    if arguments.simulation:
        setup = experiment(arguments.clients[0], "vaoi")
        with tempfile.TemporaryDirectory() as folder:
            simulated, base = in_simulation(setup, Path(folder), os.cpu_count() or 1), in_engine(setup, wall=True)
        print(
            f"  in Flower's simulation {simulated * 1000:.1f} ms by the wall clock, {simulated / base:.1f} x the engine"
        )


if __name__ == "__main__":
    main()
