"""The learning side of Algorithm 1: the global model, what each client remembers, and unsent updates."""

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fallow.aggregation import AnyAggregation, Staleness, Update, aggregate
from fallow.errors import DivergenceError
from fallow.learning.cohort import choose, train_cohort
from fallow.learning.evaluation import evaluate
from fallow.learning.network import Network
from fallow.learning.options import SGD, Compute, Strategy
from fallow.learning.probe import distances, first_moments, mean_features, parameter_distances, probe_batches
from fallow.learning.samples import Samples
from fallow.learning.start_models import StartModels
from fallow.learning.state import LearningState, Scores, Trained
from fallow.learning.training import plan_training
from fallow.learning.workers import Workers
from fallow.state import check_parts

Starts = Sequence[tuple[int, NDArray[np.intp]]]
"""(slot, clients that start in it), by slot; the clients have shape (n,), intp."""


@dataclass(frozen=True, eq=False)
class Task:
    """What is learned, and how.

    Attributes:
        seed: The seed of the run.
        train: The training set.
        test: The test set.
        shards: Each client's samples, indices into the training set, shape (N, n), int64.
        steps: κ_i, the steps of a training, shape (N,), int32.
        network: The network, with w(0).
        sgd: The options of a step.
        aggregation: The rule that combines updates into the next model.
        staleness: How an update's age reduces its weight.
        first_moment: h_i before the first training (reading 6).
        probe_batch: Whether B_i is drawn for each new model (reading 11).
        on_divergence: What to do with a training that produces numbers that are not finite.
        probes: Whether distances between features are measured (Eq. 5); if not, no forward pass is made for them.
        keeps_local: Whether clients keep their whole last model, for a distance between parameters (Eq. 2).
    """

    seed: int
    train: Samples
    test: Samples
    shards: NDArray[np.int64]
    steps: NDArray[np.int32]
    network: Network
    sgd: SGD
    aggregation: AnyAggregation
    staleness: Staleness
    first_moment: Literal["infinite", "zero", "first-pass"]
    probe_batch: Literal["fresh", "fixed"]
    on_divergence: Literal["stop", "drop"]
    probes: bool = True
    keeps_local: bool = False


class Learner:
    """The global model and the clients' memories. It changes its arrays in place.

    A client's memory is h_i, F numbers; whole weights are kept only for updates that are not sent yet.

    Attributes:
        weights: w(t), shape (P,), float32.
        moments: h_i, shape (N, F), float32, NaN for none.
        features: v_i under w(t), shape (N, F), float32; None until the new model is probed.
        held: The results of trainings whose update is not sent yet, by client.
        starts: The models that these trainings began with.
        local: Each client's last model, shape (P,), float32; None for a client that keeps none (Eq. 2).
        scores: The scores of w(t) on the test set; None until it is evaluated.
        seconds: The time spent, by kind of work.
    """

    def __init__(self, task: Task, compute: Compute) -> None:
        self.task = task
        self.workers = Workers(task.network, compute.workers)
        clients = len(task.shards)
        self.weights = task.network.weights()
        first_moment = task.first_moment if task.probes else "infinite"
        self.moments = first_moments(first_moment, self.workers, self.weights, task.train, task.shards)
        self.features: NDArray[np.float32] | None = None
        self.held: dict[int, Trained] = {}
        self.starts = StartModels()
        self._cohort: dict[tuple[int, int], Trained] = {}
        self.local: list[NDArray[np.float32] | None] = [None] * clients
        self.scores: Scores | None = None
        self.data_sizes = np.full(clients, task.shards.shape[1], dtype=np.int64)
        self.aggregation_state: Any = task.aggregation.init(self.weights.size, self.data_sizes)
        self._first_state = self.aggregation_state
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.strategy: Strategy = compute.strategy if compute.strategy != "auto" else self._measure()

    def distances(self, epoch: int) -> NDArray[np.float32]:
        """Returns M_i of Eq. (5) under w(t), shape (N,), float32. A model is probed once, when it is new.

        Args:
            epoch: t, for the draw of the probe batches.
        """
        task = self.task
        with self._clock("probe"):
            if self.features is None:
                sizes = -(-self.data_sizes // task.steps)
                batches = probe_batches(task.seed, epoch, task.shards, sizes, task.probe_batch)
                self.features = mean_features(self.workers, self.weights, task.train, batches)
            return distances(self.features, self.moments)

    def parameter_distances(self) -> NDArray[np.float32]:
        """Returns the distances of Eq. (2), between w(t) and each client's last model, shape (N,), float32."""
        with self._clock("probe"):
            return parameter_distances(self.weights, self.local)

    def train(self, starts: Starts, epoch: int) -> float:
        """Trains the cohort of an epoch, all from w(t), and returns the mean loss; NaN for an empty cohort.

        Args:
            starts: The clients that start in each slot.
            epoch: t.

        Raises:
            DivergenceError: A training diverged, and `on_divergence` is "stop".
        """
        task = self.task
        plans = [
            plan_training(task.seed, int(i), slot, task.shards[i], int(task.steps[i]))
            for slot, who in starts
            for i in who
        ]
        if not plans:
            return float("nan")
        with self._clock("train"):
            cohort = train_cohort(self.workers, self.strategy, self.weights, plans, task.train, task.sgd)
        for trained in cohort:
            if trained.diverged_at is not None and task.on_divergence == "stop":
                raise DivergenceError(f"Epoch {epoch}: {trained.fault()}")
        self._cohort = {(trained.client, trained.slot): trained for trained in cohort}
        self._epoch = epoch
        return float(np.mean([trained.loss for trained in cohort if trained.diverged_at is None] or [np.nan]))

    def start(self, client: int, slot: int) -> None:
        """Keeps the result of a client's training until it is sent.

        Args:
            client: The client.
            slot: The global slot in which its training starts.
        """
        self.held[client] = self._cohort.pop((client, slot))
        self.starts.keep(client, self._epoch, self.weights)

    def finish(self, client: int) -> None:
        """Sets a client's h_i, after the last batch of its training (Alg. 1, lines 27-28).

        Args:
            client: The client.
        """
        trained = self.held[client]
        if trained.diverged_at is None:
            self.moments[client] = trained.moment
            if self.task.keeps_local:
                self.local[client] = trained.weights

    def send(self, client: int, staleness: int) -> Update | None:
        """Returns a client's update as it arrives; None if it diverged or is discarded as too old.

        Args:
            client: The client.
            staleness: How many epochs ago its training started.
        """
        trained, start = self.held.pop(client), self.starts.take(client)
        if trained.diverged_at is not None or self.task.staleness.discount(staleness) == 0:
            return None
        return Update(client, trained.slot, trained.weights, start, int(self.data_sizes[client]), staleness)

    def aggregate(self, updates: Sequence[Update]) -> None:
        """Replaces w(t) by w(t+1) (Alg. 1, lines 20-21).

        Args:
            updates: The updates received in the epoch.

        Raises:
            UpdateError: An update has weights that are not finite.
        """
        with self._clock("aggregate"):
            self.aggregation_state, weights = aggregate(
                self.task.aggregation, self.aggregation_state, self.weights, updates, self.task.staleness
            )
        if not np.array_equal(weights, self.weights):
            self.weights, self.features, self.scores = weights, None, None

    def evaluate(self) -> Scores:
        """Returns the scores of w(t) on the test set; an unchanged model is not evaluated again."""
        if self.scores is None:
            with self._clock("evaluate"):
                self.scores = evaluate(self.workers, self.weights, self.task.test)
        return self.scores

    @property
    def state(self) -> LearningState:
        """Everything that the next epochs depend on. The arrays are not copied."""
        check_parts("aggregation rule", self.aggregation_state, self._first_state)
        return LearningState(
            weights=self.weights,
            moments=self.moments,
            features=self.features,
            held=tuple(self.held.values()),
            starts=self.starts,
            local={client: weights for client, weights in enumerate(self.local) if weights is not None},
            scores=self.scores,
            aggregation=self.aggregation_state,
        )

    def restore(self, state: LearningState) -> None:
        """Continues from a state.

        Args:
            state: The state. Its arrays belong to the learner from now on, which changes them.
        """
        self.weights, self.moments, self.features = state.weights, state.moments, state.features
        self.held = {trained.client: trained for trained in state.held}
        self.starts = state.starts
        self.local = [state.local.get(client) for client in range(len(self.local))]
        self.scores = state.scores
        self.aggregation_state = state.aggregation

    def _measure(self) -> Strategy:
        """Returns the faster strategy for a small cohort."""
        clients = range(min(len(self.task.shards), 10))
        task = self.task
        plans = [plan_training(task.seed, i, 0, task.shards[i], int(task.steps[i])) for i in clients]
        return choose(self.workers, self.weights, plans, task.train, task.sgd)

    @contextmanager
    def _clock(self, work: str) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self.seconds[work] += time.perf_counter() - begin
