"""An experiment of Fallow's as a Flower app: the same data, harvest and rules, each client on a node of its own."""

from functools import lru_cache
from pathlib import Path

import numpy as np
from flwr.app import ArrayRecord, Context, MetricRecord
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from numpy.typing import NDArray

from fallow.data import Dataset
from fallow.energy.devices import training_steps
from fallow.errors import ConfigError, NodeError
from fallow.experiment import Experiment
from fallow.flower.batteries import Battery, Emulated, WallClock
from fallow.flower.node.client import PARTITION, app_of, directory_for, identity_of, shares_labels
from fallow.flower.node.client_task import ClientTask
from fallow.flower.node.node import Node
from fallow.flower.server.combination import GUARD
from fallow.flower.server.strategy import FallowStrategy
from fallow.flower.wire.arrays import flattened, from_array_record, to_array_record
from fallow.learning.evaluation import evaluate
from fallow.learning.network import Network, build_network
from fallow.learning.probe import probe_batches, shard_sizes
from fallow.learning.samples import Samples, samples_from_arrays
from fallow.learning.workers import Workers
from fallow.simulation.learner_setup import load_dataset, split


class _Parts:
    """What all nodes of an experiment share in one process."""

    def __init__(self, toml: str) -> None:
        self.experiment = Experiment.from_toml(toml)
        dataset = load_dataset(self.experiment)
        self.network = _network(self.experiment, dataset)
        self.workers = Workers(self.network, 1)
        self.train = _samples(dataset, dataset.x, dataset.y)
        self.test = _samples(dataset, dataset.x_test, dataset.y_test)
        self.shards = split(self.experiment, dataset)
        self.policy = self.experiment.build("policy")
        train_slots = self.experiment.build_physics(self.policy).train_slots
        self.steps = training_steps(self.experiment.table(), train_slots)
        self._batteries: dict[int, Emulated] = {}

    def battery(self, number: int) -> Emulated:
        if number not in self._batteries:
            self._batteries[number] = Emulated.of(self.experiment, number)
        return self._batteries[number]

    def task(self, number: int) -> ClientTask:
        experiment = self.experiment
        sizes = shard_sizes(self.shards)

        def probe_batch(epoch: int) -> NDArray[np.int64]:
            kind = experiment.learning.probe_batch
            return probe_batches(experiment.seed, epoch, self.shards, -(-sizes // self.steps), kind)[number]

        return ClientTask(
            number=number,
            seed=experiment.seed,
            workers=self.workers,
            samples=self.train,
            shard=self.shards[number],
            steps=int(self.steps[number]),
            sgd=experiment.sgd,
            probe_batch=probe_batch,
            first_moment=experiment.learning.first_moment,
            objective=experiment.build("objective"),
            keep_local=experiment.model.keep_local,
        )


@lru_cache(maxsize=4)
def _parts(toml: str) -> _Parts:
    return _Parts(toml)


def experiment_client(
    experiment: Experiment,
    *,
    slot_seconds: float | None = None,
    directory: Path | None = None,
    share_labels: bool = False,
) -> ClientApp:
    """Returns the ClientApp of an experiment. A node's `partition-id` says which of the clients it is.

    Args:
        experiment: What is run.
        slot_seconds: How long a slot lasts by the clock; None: an epoch passes when the server says so.
        directory: Where memories are kept; the node config's `fallow-dir` goes before it.
        share_labels: Whether nodes tell the mix of their labels to a policy that asks; the node config's `share-labels`
            goes before it.
    """
    toml = experiment.to_toml()

    def node(context: Context) -> Node:
        number = _number(context, experiment.clients)
        parts = _parts(toml)
        battery: Battery = parts.battery(number)
        if slot_seconds is not None:
            battery = WallClock(parts.battery(number), slot_seconds)
        place, shares = directory_for(context, directory), shares_labels(context, share_labels)
        return Node(identity_of(context), parts.task(number), battery, place, parts.policy, share_labels=shares)

    return app_of(node)


def experiment_server(
    experiment: Experiment,
    directory: Path | None = None,
    *,
    min_nodes: int | None = None,
    patience: float = 60.0,
    reply_seconds: float = 3600.0,
) -> ServerApp:
    """Returns the ServerApp of an experiment: its policy, rules, first weights, rounds and test set.

    The run config's `directory`, `min-nodes`, `patience` and `reply-seconds` are used instead of the arguments. If
    there is no directory at all, the app raises ConfigError when it runs.

    Args:
        experiment: What is run.
        directory: Where the federation is kept; one that is there goes on.
        min_nodes: How many nodes a round waits for; None: all of the experiment's clients.
        patience: Seconds that it waits.
        reply_seconds: How long a reply is waited for.
    """
    app = ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        config = context.run_config
        place = config.get("directory") or directory
        if place is None:
            raise ConfigError("The federation has no place: set `directory` in the run config.")
        strategy = experiment_strategy(
            experiment,
            Path(str(place)),
            min_nodes=int(config.get("min-nodes", min_nodes or experiment.clients)),
            patience=float(config.get("patience", patience)),
            reply_seconds=float(config.get("reply-seconds", reply_seconds)),
        )
        scorer = Scorer(experiment)
        strategy.start(grid, scorer.initial(), experiment.epochs, evaluate_fn=scorer)

    return app


def experiment_strategy(
    experiment: Experiment,
    directory: Path | None = None,
    *,
    min_nodes: int | None = None,
    patience: float = 60.0,
    reply_seconds: float = 3600.0,
) -> FallowStrategy:
    """Returns the strategy of an experiment.

    Args:
        experiment: What is run.
        directory: Where the federation is kept; one that is there goes on. None: nowhere.
        min_nodes: How many nodes a round waits for; None: all of the experiment's clients.
        patience: Seconds that it waits.
        reply_seconds: How long a reply is waited for.
    """
    return FallowStrategy(
        experiment.build("policy"),
        aggregation=experiment.build("aggregation"),
        staleness=experiment.build("staleness"),
        seed=experiment.seed,
        slots_per_epoch=experiment.slots_per_epoch,
        average=experiment.learning.average,
        directory=directory,
        min_nodes=min_nodes or experiment.clients,
        patience=patience,
        reply_seconds=reply_seconds,
        guard=experiment.aggregation.guard or GUARD,
    )


class Scorer:
    """Scores a model on the test set, every `eval_every` rounds and at the end."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self._parts = _parts(experiment.to_toml())

    def initial(self) -> ArrayRecord:
        """Returns w(0), by parameter."""
        network = self._parts.network
        return to_array_record(network.named_arrays(network.weights()))

    def __call__(self, server_round: int, arrays: ArrayRecord) -> MetricRecord | None:
        """Returns F1, accuracy and loss; None in a round without an evaluation.

        Args:
            server_round: From 0, which is before the first round.
            arrays: The global model.
        """
        every, last = self._experiment.learning.eval_every, self._experiment.epochs
        if server_round == 0 or (server_round % every and server_round != last):
            return None
        parts, model = self._parts, from_array_record(arrays)
        scores = evaluate(parts.workers, flattened(model, model), parts.test)
        return MetricRecord({"f1": scores.f1, "accuracy": scores.accuracy, "loss": scores.loss})


def _network(experiment: Experiment, dataset: Dataset) -> Network:
    model, compute = experiment.model, experiment.compute
    shape = tuple(dataset.x.shape[1:])
    return build_network(
        experiment.build("model"), shape, dataset.classes, experiment.seed, model.feature, compute.precision
    )


def _samples(dataset: Dataset, x: NDArray[np.uint8] | NDArray[np.float32], y: NDArray[np.int64]) -> Samples:
    return samples_from_arrays(x, y, dataset.mean, dataset.std)


def _number(context: Context, clients: int) -> int:
    number = context.node_config.get(PARTITION)
    if not isinstance(number, int) or not 0 <= number < clients:
        raise NodeError(
            f"This node's {PARTITION} is {number}; the experiment has clients 0 to {clients - 1}: start the node with "
            f"--node-config '{PARTITION}=0', or the like."
        )
    return number
