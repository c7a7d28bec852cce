"""From an experiment to what is learnt: dataset, partition, network, rules."""

import numpy as np
from numpy.typing import NDArray

from fallow.data import Dataset, Partition, checked_dataset, samples_per_client
from fallow.errors import ConfigError
from fallow.experiment import Experiment
from fallow.learning.learner import Learner
from fallow.learning.network import build_network, check_device
from fallow.learning.samples import samples_from_arrays
from fallow.learning.task import Task


def build_learner(
    experiment: Experiment,
    train_cost: NDArray[np.int32],
    *,
    probes: bool = True,
    probes_losses: bool = False,
    keeps_local: bool = False,
    workers: int | None = None,
) -> Learner:
    """Returns the learner of an experiment: the same data, parts and w(0) for every policy of a seed.

    Args:
        experiment: What is run.
        train_cost: κ_i, shape (N,), int32.
        probes: Whether distances between features are measured (Eq. 5).
        probes_losses: Whether losses are measured in the same forward pass.
        keeps_local: Whether clients keep their last model, for distances between parameters (Eq. 2).
        workers: In place of compute.workers.
    """
    device = experiment.compute.device
    check_device(device)
    dataset = load_dataset(experiment)
    train, test = (
        samples_from_arrays(x, y, dataset.mean, dataset.std, device)
        for x, y in ((dataset.x, dataset.y), (dataset.x_test, dataset.y_test))
    )
    network = build_network(
        experiment.build("model"),
        train.input_shape,
        dataset.classes,
        experiment.seed,
        experiment.model.feature,
        experiment.compute.precision,
        device,
    )
    task = Task(
        seed=experiment.seed,
        train=train,
        test=test,
        shards=split(experiment, dataset),
        steps=train_cost,
        network=network,
        sgd=experiment.sgd,
        objective=experiment.build("objective"),
        aggregation=experiment.build("aggregation"),
        staleness=experiment.build("staleness"),
        first_moment=experiment.learning.first_moment,
        probe_batch=experiment.learning.probe_batch,
        on_divergence=experiment.learning.on_divergence,
        probes=probes,
        probes_losses=probes_losses,
        keeps_local=keeps_local,
        average=experiment.learning.average,
    )
    compute = experiment.compute if workers is None else experiment.compute.model_copy(update={"workers": workers})
    return Learner(task, compute)


def load_dataset(experiment: Experiment) -> Dataset:
    """Returns the dataset of an experiment, checked.

    Args:
        experiment: Its section `data` names the dataset.
    """
    return checked_dataset(experiment.data.name, experiment.build("data").load(experiment.seed))


def split(experiment: Experiment, dataset: Dataset) -> NDArray[np.int64]:
    """Returns which training samples each client has, shape (N, n), int64.

    Args:
        experiment: Its section `data` names the partition.
        dataset: What is divided among the clients.

    Raises:
        ConfigError: The partition returned something that no run can use.
    """
    partition: Partition = experiment.build("data", "partition")
    samples = samples_per_client(experiment.data.samples_per_client, len(dataset.y), experiment.clients)
    shards = partition.split(dataset.y, experiment.clients, samples, experiment.seed)
    _check_shards(f"The partition '{experiment.data.partition}'", shards, experiment.clients, len(dataset.y))
    return shards


def _check_shards(what: str, shards: object, clients: int, samples: int) -> None:
    """Raises ConfigError if a partition made shards that no run can use."""
    if not isinstance(shards, np.ndarray):
        raise ConfigError(f"{what} returned a {type(shards).__name__}; it must return a NumPy array.")
    if shards.ndim != 2 or shards.dtype.kind not in "iu" or len(shards) != clients or not shards.size:
        raise ConfigError(
            f"{what} returned an array of shape {shards.shape} and type {shards.dtype}; it must return whole numbers, "
            f"a row of samples for each of the {clients} clients."
        )
    if shards.min() < 0 or shards.max() >= samples:
        raise ConfigError(
            f"{what} names the samples {shards.min()} to {shards.max()}; the dataset has those from 0 to {samples - 1}."
        )
