"""The rounds in Flower: its FedAvg and its simulation on Ray, with an actor for each process.

The strategy sends a cohort's messages to as many nodes; each says which client it is. Between rounds the strategy
waits, in the function that others evaluate with, for the runner.
"""

import time
from collections.abc import Iterable
from functools import cache

import numpy as np
import torch
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MessageType, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg
from flwr.simulation import run_simulation
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import cross_entropy
from workloads import CLASSES, SEED, WORKLOADS, Workload, warm_up

from fallow.learning.training import plan_training
from peers.turns import Setup, Turns

client_app = ClientApp()


class Client:
    """What a process that trains keeps from client to client."""

    def __init__(self, workload: str, threads: int) -> None:
        torch.set_num_threads(threads)
        self.load = WORKLOADS[workload]
        self.images, self.targets = self.load.tensors()
        self.shards = self.load.shards()
        self.module = self.load.model.build(self.load.shape, CLASSES)
        warm_up(self.module, self.images, self.targets)

    def train(self, arrays: ArrayRecord, client: int, number: int) -> RecordDict:
        """Trains one client and returns what Flower's FedAvg asks for."""
        training = plan_training(SEED, client, number, self.shards[client], self.load.steps)
        self.module.load_state_dict(arrays.to_torch_state_dict())
        optimiser = torch.optim.SGD(self.module.parameters(), lr=self.load.lr)
        for batch in training.batches():
            index = torch.from_numpy(batch)
            optimiser.zero_grad()
            cross_entropy(self.module(self.images[index]), self.targets[index]).backward()
            optimiser.step()
        metrics = MetricRecord({"num-examples": len(training.order)})
        return RecordDict({"arrays": ArrayRecord(self.module.state_dict()), "metrics": metrics})


@cache
def client_of(workload: str, threads: int) -> Client:
    """Returns what this process keeps, made with its first message."""
    return Client(workload, threads)


@client_app.query()
def wake(message: Message, context: Context) -> Message:  # noqa: ARG001
    client_of(*words(message.content.config_records["config"]))
    return Message(RecordDict(), reply_to=message)


@client_app.train()
def train(message: Message, context: Context) -> Message:  # noqa: ARG001
    config, arrays = message.content.config_records["config"], message.content.array_records["arrays"]
    client, number = config["client"], config["server-round"]
    assert isinstance(client, int)
    assert isinstance(number, int)
    return Message(client_of(*words(config)).train(arrays, client, number - 1), reply_to=message)


def words(config: ConfigRecord) -> tuple[str, int]:
    """Returns the workload and the threads that a message names."""
    workload, threads = config["workload"], config["threads"]
    assert isinstance(workload, str)
    assert isinstance(threads, int)
    return workload, threads


class Cohorts(FedAvg):
    """Flower's FedAvg on the workload's cohorts, one round when it is its turn."""

    def __init__(self, turns: Turns, load: Workload, setup: Setup) -> None:
        super().__init__(fraction_evaluate=0.0)
        self.turns, self.load, self.setup = turns, load, setup
        self.config: dict[str, str | int] = {
            "workload": next(name for name, other in WORKLOADS.items() if other == load),
            "threads": setup.threads,
        }
        self.nodes: list[int] = []
        self.cohort: list[int] = []
        self.begin = 0.0

    def wake(self, grid: Grid) -> None:
        """Waits for the nodes, and has every actor load its data."""
        while len(self.nodes) < self.load.clients:
            time.sleep(0.05)
            self.nodes = sorted(grid.get_node_ids())
        content = RecordDict({"config": ConfigRecord(dict(self.config))})
        nodes = self.nodes[: 4 * self.setup.processes]
        replies = list(grid.send_and_receive([Message(content, node, MessageType.QUERY) for node in nodes]))
        assert not any(reply.has_error() for reply in replies), replies[0].error.reason

    def configure_train(
        self,
        server_round: int,
        arrays: ArrayRecord,
        config: ConfigRecord,  # noqa: ARG002
        grid: Grid,  # noqa: ARG002
    ) -> Iterable[Message]:
        for node, client in zip(self.nodes, self.cohort, strict=False):
            told = ConfigRecord({**self.config, "client": client, "server-round": server_round})
            yield Message(RecordDict({"arrays": arrays, "config": told}), node, MessageType.TRAIN)

    def wait(self, rounds_done: int, arrays: ArrayRecord) -> None:  # noqa: ARG002
        """Is called before the first round and after each."""
        seconds = time.perf_counter() - self.begin
        self.cohort = [training.client for training in self.load.trainings(rounds_done)]
        if rounds_done:
            self.turns.done(seconds)
        else:
            self.turns.ready("flwr", "ray", "torch")
        if rounds_done < self.setup.rounds:
            self.turns.wait()
        self.begin = time.perf_counter()


def play(turns: Turns, load: Workload, setup: Setup) -> None:
    module = load.model.build(load.shape, CLASSES)
    nn.utils.vector_to_parameters(torch.from_numpy(load.network().weights()), module.parameters())
    first, app = ArrayRecord(module.state_dict()), ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:  # noqa: ARG001
        strategy = Cohorts(turns, load, setup)
        strategy.wake(grid)
        result = strategy.start(grid, first, setup.rounds, evaluate_fn=strategy.wait)
        module.load_state_dict(result.arrays.to_torch_state_dict())
        turns.finish(flat(module))

    run_simulation(
        app,
        client_app,
        load.clients,
        backend_config={
            "client_resources": {"num_cpus": setup.threads, "num_gpus": 0.0},
            "init_args": {"num_cpus": setup.processes * setup.threads, "address": "local"},
        },
    )


def flat(module: nn.Module) -> NDArray[np.float32]:
    """Returns the weights, shape (P,), float32."""
    weights: NDArray[np.float32] = nn.utils.parameters_to_vector(module.parameters()).detach().numpy()
    return weights
