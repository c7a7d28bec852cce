"""The learning side of Algorithm 1: the global model, what each client remembers, and updates on their way."""

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
from fallow.learning.state import LearningState, Scores, Trained
from fallow.learning.training import plan_training
from fallow.learning.workers import Workers
from fallow.state import check_parts

Starts = Sequence[tuple[int, NDArray[np.intp]]]
"""(slot, clients that start in it), in order."""


@dataclass(frozen=True, eq=False)
class Task:
    """What is learnt, and how.

    Attributes:
        seed: Of the run.
        train: The training set.
        test: The test set.
        shards: Each client's samples, indices into the training set, shape (N, n), int64.
        steps: κ_i, shape (N,), int32.
        network: The network, with w(0).
        sgd: How a step is made.
        aggregation: How updates make the next model.
        staleness: What age leaves of an update's weight.
        first_moment: h_i before the first training (reading 6).
        probe_batch: Whether B_i is drawn for each new model (reading 11).
        on_divergence: What to do with a training that comes to no finite numbers.
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
    """The global model and its clients' memories. It owns its arrays and changes them in place.

    A client's memory is h_i, as long as a feature; whole weights are held only for updates not yet sent.

    Attributes:
        weights: w(t), shape (P,), float32.
        moments: h_i, shape (N, F), float32, NaN for none.
        features: v_i under w(t), shape (N, F), float32; None until the new model is probed.
        held: What came of trainings whose update is not sent yet, by client.
        local: Each client's last model, where they keep it (Eq. 2), else None each.
        scores: Of w(t) on the test set; None until it is evaluated.
        seconds: Time spent, by kind of work.
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
        self._cohort: dict[tuple[int, int], Trained] = {}
        self.local: list[NDArray[np.float32] | None] = [None] * clients
        self.scores: Scores | None = None
        self.data_sizes = np.full(clients, task.shards.shape[1], dtype=np.int64)
        self.aggregation_state: Any = task.aggregation.init(self.weights.size, self.data_sizes)
        self._first_state = self.aggregation_state
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.strategy: Strategy = compute.strategy if compute.strategy != "auto" else self._measure()

    def distances(self, epoch: int) -> NDArray[np.float32]:
        """Eq. (5): M_i under w(t), shape (N,), float32. A model is probed once, when it is new."""
        task = self.task
        with self._clock("probe"):
            if self.features is None:
                sizes = -(-self.data_sizes // task.steps)
                batches = probe_batches(task.seed, epoch, task.shards, sizes, task.probe_batch)
                self.features = mean_features(self.workers, self.weights, task.train, batches)
            return distances(self.features, self.moments)

    def parameter_distances(self) -> NDArray[np.float32]:
        """Eq. (2): the distance between w(t) and each client's last model, shape (N,), float32."""
        with self._clock("probe"):
            return parameter_distances(self.weights, self.local)

    def train(self, starts: Starts, epoch: int) -> float:
        """Trains the cohort of an epoch, all from w(t); returns the mean loss, NaN for an empty cohort."""
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
        return float(np.mean([trained.loss for trained in cohort if trained.diverged_at is None] or [np.nan]))

    def start(self, client: int, slot: int) -> None:
        """A client has begun a training: what will come of it is held until it is sent."""
        self.held[client] = self._cohort.pop((client, slot))

    def finish(self, client: int) -> None:
        """A client has done its last batch: it remembers the mean feature (Alg. 1, lines 27-28)."""
        trained = self.held[client]
        if trained.diverged_at is None:
            self.moments[client] = trained.moment
            if self.task.keeps_local:
                self.local[client] = trained.weights

    def send(self, client: int, staleness: int) -> Update | None:
        """A client's update arrives; None if it diverged or is discarded as too old."""
        trained = self.held.pop(client)
        if trained.diverged_at is not None or self.task.staleness.discount(staleness) == 0:
            return None
        return Update(client, trained.slot, trained.weights, int(self.data_sizes[client]), staleness)

    def aggregate(self, updates: Sequence[Update]) -> None:
        """Alg. 1, lines 20-21: w(t+1)."""
        with self._clock("aggregate"):
            self.aggregation_state, weights = aggregate(
                self.task.aggregation, self.aggregation_state, self.weights, updates, self.task.staleness
            )
        if not np.array_equal(weights, self.weights):
            self.weights, self.features, self.scores = weights, None, None

    def evaluate(self) -> Scores:
        """Scores w(t) on the test set; an unchanged model is not evaluated again."""
        if self.scores is None:
            with self._clock("evaluate"):
                self.scores = evaluate(self.workers, self.weights, self.task.test)
        return self.scores

    @property
    def state(self) -> LearningState:
        """All that the next epochs depend on."""
        check_parts("aggregation rule", self.aggregation_state, self._first_state)
        return LearningState(
            weights=self.weights,
            moments=self.moments,
            features=self.features,
            held=tuple(self.held.values()),
            local={client: weights for client, weights in enumerate(self.local) if weights is not None},
            scores=self.scores,
            aggregation=self.aggregation_state,
        )

    def restore(self, state: LearningState) -> None:
        """Takes up a state, whose arrays are the learner's from now on."""
        self.weights, self.moments, self.features = state.weights, state.moments, state.features
        self.held = {trained.client: trained for trained in state.held}
        self.local = [state.local.get(client) for client in range(len(self.local))]
        self.scores = state.scores
        self.aggregation_state = state.aggregation

    def _measure(self) -> Strategy:
        """Times a step of a small cohort both ways."""
        some = range(min(len(self.task.shards), 10))
        task = self.task
        plans = [plan_training(task.seed, i, 0, task.shards[i], int(task.steps[i])) for i in some]
        return choose(self.workers, self.weights, plans, task.train, task.sgd)

    @contextmanager
    def _clock(self, work: str) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self.seconds[work] += time.perf_counter() - begin
