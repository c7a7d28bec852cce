"""What is measured: the work of a node, by the same functions that a node calls."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.calibration.options import Options
from fallow.data import Dataset
from fallow.errors import ConfigError, FallowError
from fallow.experiment import Experiment
from fallow.learning.evaluation import evaluate
from fallow.learning.local import train
from fallow.learning.network import Network, build_network
from fallow.learning.options import SGD
from fallow.learning.probe import probe
from fallow.learning.samples import Samples, samples_from_arrays
from fallow.learning.state import Trained
from fallow.learning.statistics import check_batches
from fallow.learning.training import Training, plan_training
from fallow.learning.workers import Workers
from fallow.memory import reuse_freed
from fallow.models import Shape
from fallow.models.weights import Weights
from fallow.plugins.wording import in_words
from fallow.simulation.learner_setup import load_dataset

USUAL_SHAPES: Mapping[str, Shape] = {
    "auto": (3, 32, 32),
    "paper-cnn": (3, 32, 32),
    "small-cnn": (1, 8, 8),
    "mlp": (64,),
    "signal-cnn": (3, 64),
    "resnet18-gn": (3, 32, 32),
}
"""The shape of the random inputs of our models: CIFAR-10's, and those of the digits and of the sensors."""

CLASSES, EVALUATED = 10, 1000
"""Of random data: the classes, and the samples of one evaluation."""

SGD_STEP = SGD(lr=1e-4)
"""A plain step takes as long at any rate; a small one does not diverge on random data."""

SEED = 0


@dataclass(frozen=True, eq=False)
class Work:
    """The work of one node.

    Attributes:
        model: The model's name, with the options that are not its defaults.
        workers: Who computes.
        weights: The global model, shape (P,), float32.
        train_set: The node's samples.
        test_set: What is evaluated.
        steps: κ, the batches of one training.
    """

    model: str
    workers: Workers
    weights: Weights
    train_set: Samples
    test_set: Samples
    steps: int

    @property
    def network(self) -> Network:
        """The network of which each worker has a replica."""
        return self.workers.network

    @property
    def batch(self) -> int:
        """The samples of one batch, ⌈|D_i|/κ⌉; with batch normalisation at least 2."""
        return max(-(-len(self.train_set) // self.steps), self.network.least_batch)

    @property
    def _shard(self) -> NDArray[np.int64]:
        return np.arange(len(self.train_set))

    @property
    def calls(self) -> dict[str, Callable[[], None]]:
        """What is measured, by the names of the fields of `Costs`."""
        return {"step": self.step, "training": self.training, "probe": self.probe, "evaluation": self.evaluation}

    def step(self) -> None:
        """Makes a training of one batch."""
        self._train(self._shard[: self.batch], steps=1)

    def training(self) -> None:
        """Makes one whole training: one pass over the samples."""
        self._train(self._shard, self.steps)

    def probe(self) -> None:
        """Makes a forward pass of one batch."""
        probe(self.workers, self.weights, self.train_set, [self._shard[: self.batch]], losses=False)

    def evaluation(self) -> None:
        """Makes a forward pass of the test set."""
        evaluate(self.workers, self.weights, self.test_set)

    def _train(self, shard: NDArray[np.int64], steps: int) -> None:
        plan = plan_training(SEED, 0, 0, shard, steps, least_batch=self.network.least_batch)

        def one(network: Network, training: Training) -> Trained:
            return train(network, self.weights, training, self.train_set, SGD_STEP)

        (trained,) = self.workers.map(one, [plan])
        if trained.diverged_at is not None:
            raise ConfigError(
                f"A training of the model '{self.model}' diverged at step {trained.diverged_at}, so that its time says "
                "nothing; give it other inputs (--data)."
            )


def prepare_work(model: Any, data: Any, options: Options) -> Work:
    """Returns the work of a node with a model and data.

    Args:
        model: A name, a table of a name and options, a class, a function or an object.
        data: A dataset, in the same ways; None is random data of the model's shape.
        options: How the calibration is made.

    Raises:
        ConfigError: There is no such model or dataset, or they do not fit each other or the options.
        DataError: The data is missing or damaged.
    """
    reuse_freed()  # as a node does
    experiment = Experiment(model=model, **({} if data is None else {"data": data}))
    name = experiment.model.name
    if data is None:
        train_set, test_set, classes = _random(name, options)
    else:
        train_set, test_set, classes = _given(load_dataset(experiment), options)
    network = _network(experiment, train_set.input_shape, classes)
    check_batches(network.least_batch, [len(train_set)])
    changed = ", ".join(f"{key}={value}" for key, value in experiment.given.get("model", {}).items() if key != "name")
    words = f"{name}({changed})" if changed else name
    return Work(words, Workers(network, options.threads), network.weights(), train_set, test_set, options.steps)


def _network(experiment: Experiment, input_shape: Shape, classes: int) -> Network:
    try:
        return build_network(experiment.build("model"), input_shape, classes, SEED, experiment.model.feature)
    except FallowError:
        raise
    except Exception as error:  # a user's factory: whatever it raises is a problem to report
        raise ConfigError(
            f"The model '{experiment.model.name}' can't be built for inputs of shape {input_shape} and {classes} "
            f"classes: {in_words(error)}."
        ) from error


def _random(name: str, options: Options) -> tuple[Samples, Samples, int]:
    shape = options.input_shape or USUAL_SHAPES.get(name)
    if shape is None:
        raise ConfigError(
            f"The model '{name}' does not say what inputs it takes; state input_shape (--input-shape 3,32,32), or name "
            "data (--data digits)."
        )
    classes = options.classes or CLASSES
    rng = np.random.default_rng(SEED)
    sets = []
    for count in (options.samples, options.eval_samples or EVALUATED):
        inputs = _random_inputs(rng, (count, *shape))
        each = (0.5,) * shape[0], (0.25,) * shape[0]
        sets.append(samples_from_arrays(inputs, rng.integers(0, classes, count), *each))
    return sets[0], sets[1], classes


def _random_inputs(rng: np.random.Generator, shape: Shape) -> NDArray[np.uint8] | NDArray[np.float32]:
    try:
        if len(shape) == 4:
            return rng.integers(0, 256, shape, dtype=np.uint8)  # images
        return rng.random(shape, dtype=np.float32)
    except (MemoryError, ValueError):
        raise ConfigError(
            f"{shape[0]} inputs of shape {shape[1:]} do not fit into memory; state fewer samples (--samples, "
            "--eval-samples) or smaller inputs (--input-shape)."
        ) from None


def _given(dataset: Dataset, options: Options) -> tuple[Samples, Samples, int]:
    if options.input_shape or options.classes:
        option = "input_shape (--input-shape)" if options.input_shape else "classes (--classes)"
        raise ConfigError(f"{option} is for random data; the dataset '{dataset.name}' has its own, so leave it out.")
    parts = (
        ("samples (--samples)", options.samples, dataset.x, dataset.y),
        ("eval_samples (--eval-samples)", options.eval_samples or len(dataset.y_test), dataset.x_test, dataset.y_test),
    )
    sets = []
    for option, count, x, y in parts:
        if count > len(y):
            raise ConfigError(f"{option} = {count} is more than the {len(y)} that the dataset '{dataset.name}' has.")
        sets.append(samples_from_arrays(x[:count], y[:count], dataset.mean, dataset.std))
    return sets[0], sets[1], dataset.classes
