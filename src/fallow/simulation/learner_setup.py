"""From an experiment to what is learnt: dataset, partition, network, rules."""

import numpy as np
from numpy.typing import NDArray

from fallow.aggregation import Guard
from fallow.data import Dataset, divide, loaded
from fallow.data.partitions import Parts
from fallow.data.sizes import sizes_by_class
from fallow.experiment import Experiment
from fallow.learning.device import check_device
from fallow.learning.learner import Learner
from fallow.learning.network import build_network
from fallow.learning.samples import samples_from_arrays
from fallow.learning.task import Task
from fallow.simulation.lessons import blame_model


def build_learner(
    experiment: Experiment,
    steps: NDArray[np.int32],
    *,
    probes: bool = True,
    probes_losses: bool = False,
    keeps_local: bool = False,
    workers: int | None = None,
) -> Learner:
    """Returns the learner of an experiment: the same data, parts and w(0) for every policy of a seed.

    Args:
        experiment: What is run.
        steps: κ_i, the batches of a training, shape (N,), int32.
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
    with blame_model(experiment):
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
        steps=steps,
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
        own_statistics=experiment.model.keep_local,
        average=experiment.learning.average,
        guard=Guard(experiment.aggregation.guard) if experiment.aggregation.guard else None,
    )
    compute = experiment.compute if workers is None else experiment.compute.model_copy(update={"workers": workers})
    with blame_model(experiment):
        return Learner(task, compute)


def load_dataset(experiment: Experiment) -> Dataset:
    """Returns the dataset of an experiment, checked.

    Args:
        experiment: Its section `data` names the dataset.
    """
    return loaded(experiment.build("data"), experiment.seed, name=experiment.data.name)


def split(experiment: Experiment, dataset: Dataset) -> Parts:
    """Returns which training samples each client has: N arrays of indices, shape (|D_i|,), int64.

    Args:
        experiment: Its section `data` names the partition and the sizes.
        dataset: What is divided among the clients.

    Raises:
        ConfigError: There are too few samples, or the partition returned something that no run can use.
    """
    data = experiment.data
    return divide(
        dataset,
        experiment.build("data", "partition"),
        experiment.clients,
        experiment.seed,
        samples=0 if any(one.samples for one in experiment.device) else data.samples_per_client,
        sizes=sizes_by_class(experiment.table()),
        spread=data.spread,
        name=data.partition,
    )
