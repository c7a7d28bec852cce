"""What a round through Flower costs beside an epoch of the simulator: seconds, and bytes on the wire.

The same experiment three ways in one run: Fallow's engine, Flower's messages in this process, and Flower's simulation
with its own processes. The task is trivial (one step on four tiny images), so what is measured is the way there.
"""

import argparse
import logging
import os
import statistics
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

os.environ |= {"FLWR_TELEMETRY_ENABLED": "0", "RAY_USAGE_STATS_ENABLED": "0"}

from flwr.app import ArrayRecord, Context, Message
from flwr.serverapp import Grid, ServerApp
from flwr.simulation import run_simulation
from flwr.supercore.inflatable.inflatable_object import get_all_nested_objects

from fallow.experiment import Experiment
from fallow.flower import LocalGrid, experiment_client, experiment_strategy
from fallow.flower.experiment import Scorer
from fallow.simulation.engine import Engine

ROUNDS = 12
WARM_UP = 2
"""Rounds that are not counted: the first loads the dataset in every process, and sends the first model."""


def experiment(clients: int, policy: str) -> Experiment:
    return Experiment.parse(
        {
            "clients": clients,
            "epochs": ROUNDS,
            "slots_per_epoch": 4,
            "energy": {"p": 1.0},
            "cost": {"train": 1},
            "policy": {"name": policy, "k": 10},
            "data": {"samples_per_client": 4, "partition": "iid"},
            "learning": {"mode": "train", "eval_every": ROUNDS},
            "compute": {"strategy": "spread", "workers": 1},
        }
    )


class Clock:
    """Notes when rounds end."""

    def __init__(self) -> None:
        self.times = [time.process_time()]

    def __call__(self, number: int, arrays: ArrayRecord) -> None:  # noqa: ARG002
        self.times.append(time.process_time())

    def median(self) -> float:
        """Returns the median seconds of a round."""
        return statistics.median(b - a for a, b in zip(self.times[WARM_UP:], self.times[WARM_UP + 1 :], strict=False))


class CountingGrid(LocalGrid):
    """Counts the bytes of every message as Flower would send it."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.bytes: defaultdict[str, list[int]] = defaultdict(list)

    def deliver(self, message: Message) -> Message | None:
        kind = message.metadata.message_type
        self.bytes[f"{kind}, to the node"].append(size(message))
        reply = super().deliver(message)
        if reply is not None:
            self.bytes[f"{kind}, from the node"].append(size(reply))
        return reply


def size(message: Message) -> int:
    return sum(len(part.deflate()) for part in get_all_nested_objects(message).values())


def in_engine(setup: Experiment) -> float:
    clock = Clock()
    for record in Engine(setup, workers=1):
        clock(record.epoch, ArrayRecord())
    return clock.median()


def in_process(setup: Experiment, folder: Path, grid_type: type[LocalGrid] = LocalGrid) -> tuple[float, LocalGrid]:
    clock = Clock()
    grid = grid_type(
        experiment_client(setup, directory=folder / "nodes"),
        {n + 10: {"partition-id": n} for n in range(setup.clients)},
    )
    experiment_strategy(setup, folder / "server").start(grid, Scorer(setup).initial(), ROUNDS, evaluate_fn=clock)
    return clock.median(), grid


def in_simulation(setup: Experiment, folder: Path, processes: int) -> float:
    clock = Clock()
    app = ServerApp()

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--policy", default="vaoi")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="of Flower's simulation")
    parser.add_argument("--no-simulation", action="store_true")
    arguments = parser.parse_args()
    logging.getLogger("flwr").setLevel(logging.ERROR)
    setup = experiment(arguments.clients, arguments.policy)
    print(f"{arguments.clients} nodes, {arguments.policy}, median of {ROUNDS - WARM_UP} rounds")
    base = in_engine(setup)
    print(f"  engine       {base * 1000:8.1f} ms an epoch")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        local, _ = in_process(setup, folder / "local")
        print(f"  in process   {local * 1000:8.1f} ms a round, {local / base:.1f} x")
        if not arguments.no_simulation:
            simulated = in_simulation(setup, folder / "simulated", arguments.processes)
            print(f"  simulation   {simulated * 1000:8.1f} ms a round, {simulated / base:.1f} x")
        _, grid = in_process(setup, folder / "counted", CountingGrid)
        assert isinstance(grid, CountingGrid)
        model = Scorer(setup).initial()
        print(f"  the model is {sum(len(array.data) for array in model.values()):,} bytes")
        for kind, sizes in grid.bytes.items():
            print(f"  {kind:22} {len(sizes) / ROUNDS:6.1f} a round, {sum(sizes) / len(sizes):10,.0f} bytes on average")


if __name__ == "__main__":
    main()
