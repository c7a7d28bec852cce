"""The rounds in pfl: FederatedAveraging on its SimulatedBackend, weighted by samples, without evaluation.

The cohort of a round, and the order of its samples, are those of the workload. Between rounds a callback waits for the
runner. The first process alone talks to the runner; the others wait for it at a barrier.
"""

import time
from collections.abc import Iterator

import torch
from pfl.aggregate.simulate import SimulatedBackend
from pfl.aggregate.weighting import WeightByDatapoints
from pfl.algorithm.base import NNAlgorithmParams
from pfl.algorithm.federated_averaging import FederatedAveraging
from pfl.callback.base import TrainingProcessCallback
from pfl.data.federated_dataset import FederatedDatasetBase
from pfl.data.pytorch import PyTorchTensorDataset
from pfl.hyperparam.base import NNTrainHyperParams
from pfl.internal.ops.pytorch_ops import distributed
from pfl.metrics import Metrics
from pfl.model.pytorch import PyTorchModel
from torch import nn
from torch.nn.functional import cross_entropy
from workloads import CLASSES, Workload, warm_up

from peers.turns import Setup, Turns


class Task(nn.Module):
    """The network with what pfl asks of it."""

    def __init__(self, load: Workload) -> None:
        super().__init__()
        self.network = load.model.build(load.shape, CLASSES)
        nn.utils.vector_to_parameters(torch.from_numpy(load.network().weights()), self.network.parameters())

    def loss(self, images: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return cross_entropy(self.network(images), targets)

    def metrics(self, images: torch.Tensor, targets: torch.Tensor) -> dict[str, float]:  # noqa: ARG002
        """Nothing: pfl evaluates in its first round, whatever it is told, and no side shall."""
        return {}


class Cohorts(FederatedDatasetBase):
    """The clients of each round, shared out among the processes."""

    def __init__(self, load: Workload) -> None:
        super().__init__()
        self.load = load
        self.images, self.targets = load.tensors()
        self.prepare(0)

    def prepare(self, number: int) -> None:
        """Plans a round before it is timed, as the other sides do."""
        self.planned = self.load.trainings(number)[distributed.global_rank :: distributed.world_size]

    def __next__(self) -> tuple[PyTorchTensorDataset, int]:
        raise NotImplementedError("Clients come as cohorts.")

    def get_cohort(self, cohort_size: int) -> Iterator[tuple[PyTorchTensorDataset, int]]:  # noqa: ARG002
        for training in self.planned:
            order = torch.from_numpy(training.order)
            yield PyTorchTensorDataset((self.images[order], self.targets[order])), 0


class Waiter(TrainingProcessCallback):
    """Holds pfl between two rounds until it is its turn."""

    def __init__(self, turns: Turns | None, cohorts: Cohorts, rounds: int) -> None:
        self.turns, self.cohorts, self.rounds = turns, cohorts, rounds
        self.begin = 0.0

    def on_train_begin(self, *, model: PyTorchModel) -> Metrics:  # noqa: ARG002
        if self.turns:
            self.turns.ready("pfl", "torch")
        self.wait()
        return Metrics()

    def after_central_iteration(
        self,
        aggregate_metrics: Metrics,  # noqa: ARG002
        model: PyTorchModel,  # noqa: ARG002
        *,
        central_iteration: int,
    ) -> tuple[bool, Metrics]:
        seconds = time.perf_counter() - self.begin
        self.cohorts.prepare(central_iteration + 1)
        if self.turns:
            self.turns.done(seconds)
        if central_iteration + 1 < self.rounds:
            self.wait()
        return False, Metrics()

    def wait(self) -> None:
        if self.turns:
            self.turns.wait()
        if distributed.world_size > 1:
            torch.distributed.barrier()
        self.begin = time.perf_counter()


def train(turns: Turns | None, load: Workload, setup: Setup) -> None:
    task, cohorts = Task(load), Cohorts(load)
    warm_up(task.network, cohorts.images, cohorts.targets)
    FederatedAveraging().run(
        NNAlgorithmParams(
            central_num_iterations=setup.rounds,
            evaluation_frequency=setup.rounds + 1,
            train_cohort_size=load.clients_a_round,
            val_cohort_size=None,
        ),
        SimulatedBackend(training_data=cohorts, val_data=cohorts, postprocessors=[WeightByDatapoints()]),
        PyTorchModel(task, torch.optim.SGD, torch.optim.SGD(task.parameters(), lr=1.0)),
        NNTrainHyperParams(
            local_batch_size=cohorts.planned[0].batch_size, local_num_epochs=1, local_learning_rate=load.lr
        ),
        callbacks=[Waiter(turns, cohorts, setup.rounds)],
        send_metrics_to_platform=False,
    )
    if turns:
        turns.finish(nn.utils.parameters_to_vector(task.parameters()).detach().numpy())
