"""An experiment of Fallow's as a Flower app: its server, and what its nodes learn. PyTorch is loaded here."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from flwr.app import ArrayRecord, Context, MetricRecord
from flwr.serverapp import Grid, ServerApp
from numpy.typing import NDArray

from fallow.data import Dataset
from fallow.energy.devices import training_steps
from fallow.errors import ConfigError
from fallow.experiment import Experiment
from fallow.flower.node.client_task import ClientTask
from fallow.flower.server.combination import GUARD
from fallow.flower.server.strategy import FallowStrategy
from fallow.flower.server.tracking import RoundTrackers
from fallow.flower.wire.arrays import flattened, from_array_record, to_array_record
from fallow.learning.evaluation import evaluate
from fallow.learning.network import Network, build_network
from fallow.learning.probe import Probed, probe, probe_batches, shard_sizes
from fallow.learning.samples import Samples, samples_from_arrays
from fallow.learning.workers import Workers
from fallow.memory import reuse_freed
from fallow.models.weights import Weights
from fallow.plugins.nested import flatten
from fallow.simulation.learner_setup import load_dataset, split


class _Parts:
    """What all nodes of an experiment share in one process."""

    def __init__(self, toml: str) -> None:
        reuse_freed()
        self.experiment = Experiment.from_toml(toml)
        dataset = load_dataset(self.experiment)
        self.network = _network(self.experiment, dataset)
        self.workers = Workers(self.network, 1)
        self.train = _samples(dataset, dataset.x, dataset.y)
        self.test = _samples(dataset, dataset.x_test, dataset.y_test)
        self.shards = split(self.experiment, dataset)
        train_slots = self.experiment.build_physics(self.experiment.build("policy")).train_slots
        self.steps = training_steps(self.experiment.table(), train_slots)
        self.sizes, self.objective = shard_sizes(self.shards), self.experiment.build("objective")
        self._batches: tuple[int, list[NDArray[np.int64]]] | None = None

    def batches(self, epoch: int) -> list[NDArray[np.int64]]:
        """Returns the probe batch of every client, drawn once for however many of them ask in turn."""
        if self._batches is None or self._batches[0] != epoch:
            sizes, kind = -(-self.sizes // self.steps), self.experiment.learning.probe_batch
            self._batches = (epoch, probe_batches(self.experiment.seed, epoch, self.shards, sizes, kind))
        return self._batches[1]

    def probe(self, numbers: Sequence[int], weights: Weights, epoch: int, *, losses: bool) -> Probed:
        """Returns what one forward pass of the clients' probe batches says of the weights."""
        batches = self.batches(epoch)
        return probe(self.workers, weights, self.train, [batches[number] for number in numbers], losses=losses)

    def task(self, number: int) -> ClientTask:
        experiment = self.experiment
        return ClientTask(
            number=number,
            seed=experiment.seed,
            workers=self.workers,
            samples=self.train,
            shard=self.shards[number],
            steps=int(self.steps[number]),
            sgd=experiment.sgd,
            probe_batch=lambda epoch: self.batches(epoch)[number],
            first_moment=experiment.learning.first_moment,
            objective=self.objective,
            keep_local=experiment.model.keep_local,
        )


@lru_cache(maxsize=4)
def _parts(toml: str) -> _Parts:
    return _Parts(toml)


def experiment_server(
    experiment: Experiment,
    directory: Path | None = None,
    *,
    min_nodes: int | None = None,
    patience: float = 60.0,
    reply_seconds: float = 3600.0,
) -> ServerApp:
    """Returns the ServerApp of an experiment: its policy, rules, first weights, rounds and test set.

    The run config's `directory`, `min-nodes`, `patience` and `reply-seconds` are used instead of the arguments, and its
    `trackers`, names with commas in between, instead of the experiment's. If there is no directory at all, the app
    raises ConfigError when it runs.

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
            trackers=str(config["trackers"]).replace(",", " ").split() if "trackers" in config else None,
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
    trackers: Sequence[str] | None = None,
) -> FallowStrategy:
    """Returns the strategy of an experiment.

    Args:
        experiment: What is run.
        directory: Where the federation is kept; one that is there goes on. None: nowhere.
        min_nodes: How many nodes a round waits for; None: all of the experiment's clients.
        patience: Seconds that it waits.
        reply_seconds: How long a reply is waited for.
        trackers: Who is told of the rounds, by name; None: those of the experiment's `output.trackers`.
    """
    names = experiment.output.trackers if trackers is None else trackers
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
        trackers=RoundTrackers(names, flatten(experiment.table())),
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
