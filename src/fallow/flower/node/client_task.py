"""What a client learns from, and how: the arithmetic of one node."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fallow.flower.node.facts import Facts
from fallow.flower.wire.arrays import Named
from fallow.learning.local import train
from fallow.learning.network import Network
from fallow.learning.options import SGD
from fallow.learning.probe import FirstMoment, first_moments, probe
from fallow.learning.samples import Samples
from fallow.learning.state import Trained
from fallow.learning.statistics import Statistics, check_batches, check_kept, with_statistics
from fallow.learning.training import Training, plan_training
from fallow.learning.workers import Workers
from fallow.models.weights import Weights
from fallow.objectives import CrossEntropy, Objective, logit_offsets


@dataclass(frozen=True, eq=False)
class ClientTask:
    """What a client learns from, and how.

    Attributes:
        number: In random streams: the client's number in an experiment, or any number of its own.
        seed: Of the run.
        workers: Who computes, with the network.
        samples: The samples, its own or more.
        shard: Which of them are its own, shape (n,), int64.
        steps: κ, the batches of one training.
        sgd: How a step is made.
        probe_batch: From an epoch to the samples of its probe (reading 11).
        first_moment: h_i before the first training (reading 6).
        objective: What it minimises; it sees the client's own counts of labels, which stay on the node.
        keep_local: Whether the client keeps its own running statistics from one training to the next.

    Raises:
        ConfigError: Batch normalisation has too few samples, or there are no statistics to keep.
    """

    number: int
    seed: int
    workers: Workers
    samples: Samples
    shard: NDArray[np.int64]
    steps: int
    sgd: SGD
    probe_batch: Callable[[int], NDArray[np.int64]]
    first_moment: FirstMoment = "infinite"
    objective: Objective = field(default_factory=CrossEntropy)
    keep_local: bool = False

    def __post_init__(self) -> None:
        """Checks the network against the client's samples."""
        check_kept(self.keep_local, len(self.workers.network.statistics))
        check_batches(self.workers.network.least_batch, [len(self.shard)])

    @property
    def layout(self) -> Named:
        """The network's parameters by name, as they are now: for their order and shapes."""
        network = self.workers.network
        return network.named_arrays(network.weights())

    @property
    def label_mix(self) -> NDArray[np.float64]:
        """The share of each class in the client's samples, shape (K,), float64."""
        counts = np.bincount(self._labels[self.shard], minlength=self.workers.network.classes)
        mix: NDArray[np.float64] = counts / len(self.shard)
        return mix

    def facts(self, run: int) -> Facts:
        """Returns what the node remembers of its data and network.

        Args:
            run: Flower's run.
        """
        network = self.workers.network
        return Facts(
            run=run,
            data_size=len(self.shard),
            label_mix=self.label_mix,
            feature_size=network.feature_size,
            shapes=network.shapes,
            kept_from=network.trained if self.keep_local else None,
        )

    @property
    def _labels(self) -> NDArray[np.int64]:
        labels: NDArray[np.int64] = self.samples.labels.cpu().numpy()
        return labels

    @cached_property
    def _offset(self) -> NDArray[np.float32] | None:
        """What the loss adds to the logits, shape (K,), float32; None adds nothing."""
        return logit_offsets(self.objective, self._labels, [self.shard], self.workers.network.classes)[0]

    def train(self, weights: Weights, slot: int, statistics: Statistics | None = None) -> Trained:
        """Trains from the global weights and returns what came of it.

        Args:
            weights: Of the global model, shape (P,), float32.
            slot: The start of the training, which seeds its draws.
            statistics: The client's own running statistics, shape (P − T,), float32; None: those of the global model.
        """
        least = self.workers.network.least_batch
        plan = plan_training(
            self.seed, self.number, slot, self.shard, self.steps, self._offset, least_batch=least, statistics=statistics
        )

        def one(network: Network, training: Training) -> Trained:
            return train(network, weights, training, self.samples, self.sgd)

        return self.workers.map(one, [plan])[0]

    def probe(
        self, weights: Weights, epoch: int, statistics: Statistics | None = None, *, losses: bool
    ) -> tuple[NDArray[np.float32], float]:
        """Returns v_i, shape (F,), float32 (Alg. 2, line 7), and the mean loss of the same samples; NaN if not wanted.

        Args:
            weights: Of the global model, shape (P,), float32.
            epoch: t, which may seed the choice of samples.
            statistics: The client's own running statistics, shape (P − T,), float32; None: those of the global model.
            losses: Whether the loss is wanted too; it comes from the same forward pass.
        """
        own = with_statistics(weights, statistics)
        probed = probe(self.workers, own, self.samples, [self.probe_batch(epoch)], losses=losses)
        return probed.features[0], math.nan if probed.losses is None else float(probed.losses[0])

    def moment(self, weights: Weights) -> NDArray[np.float32]:
        """Returns h_i before the first training, shape (F,), float32.

        Args:
            weights: Of the global model, shape (P,), float32.
        """
        moments = first_moments(self.first_moment, self.workers, weights, self.samples, [self.shard])
        moment: NDArray[np.float32] = moments[0]
        return moment
