"""What is learned, and how."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fallow.aggregation import AnyAggregation, Guard, Staleness
from fallow.learning.network import Network
from fallow.learning.options import SGD
from fallow.learning.probe import Shards, shard_sizes
from fallow.learning.samples import Samples
from fallow.learning.statistics import check_batches, check_kept
from fallow.learning.training import Training, plan_training
from fallow.objectives import Objective


@dataclass(frozen=True, eq=False)
class Task:
    """What is learned, and how.

    Attributes:
        seed: The seed of the run.
        train: The training set.
        test: The test set.
        shards: Each client's samples: N arrays of indices into the training set, shape (|D_i|,), int64, none empty.
        steps: κ_i, the steps of a training, shape (N,), int32.
        network: The network, with w(0).
        sgd: The options of a step.
        objective: What clients minimise.
        aggregation: The rule that combines updates into the next model.
        staleness: How an update's age reduces its weight.
        first_moment: h_i before the first training (reading 6).
        probe_batch: Whether B_i is drawn for each new model (reading 11).
        on_divergence: What to do with a training that produces numbers that are not finite.
        probes: Whether distances between features are measured (Eq. 5); if not, no forward pass is made for them.
        probes_losses: Whether the probe also measures losses.
        keeps_local: Whether clients keep their whole last model, for a distance between parameters (Eq. 2).
        own_statistics: Whether clients train and probe with their own running statistics (model.keep_local).
        average: The share of the running mean of the iterates that each epoch keeps; 0 hands out the newest model.
        guard: Refuses updates that moved the model much farther than others; None uses all.

    Raises:
        ConfigError: Batch normalisation has too few samples, or there are no statistics to keep.
    """

    seed: int
    train: Samples
    test: Samples
    shards: Shards
    steps: NDArray[np.int32]
    network: Network
    sgd: SGD
    objective: Objective
    aggregation: AnyAggregation
    staleness: Staleness
    first_moment: Literal["infinite", "zero", "first-pass"]
    probe_batch: Literal["fresh", "fixed"]
    on_divergence: Literal["stop", "drop"]
    probes: bool = True
    probes_losses: bool = False
    keeps_local: bool = False
    own_statistics: bool = False
    average: float = 0.0
    guard: Guard | None = None

    def __post_init__(self) -> None:
        """Checks the network against the clients' samples."""
        check_kept(self.own_statistics, len(self.network.statistics))
        check_batches(self.network.least_batch, self.data_sizes.tolist())

    @property
    def label_mix(self) -> NDArray[np.float64]:
        """The share of each class in each client's samples, shape (N, K), float64."""
        labels, classes = self.train.labels.cpu().numpy(), self.network.classes
        return np.array([np.bincount(labels[shard], minlength=classes) / len(shard) for shard in self.shards])

    def plan(self, client: int, slot: int, logit_offset: NDArray[np.float32] | None) -> Training:
        """Returns the training that a client starts in a slot.

        Args:
            client: The client.
            slot: The global slot.
            logit_offset: What the loss adds to the logits, shape (K,), float32; None adds nothing.
        """
        shard, steps, least = self.shards[client], int(self.steps[client]), self.network.least_batch
        return plan_training(self.seed, client, slot, shard, steps, logit_offset, least)

    @property
    def data_sizes(self) -> NDArray[np.int64]:
        """|D_i| of every client, shape (N,), int64."""
        return shard_sizes(self.shards)
