"""The learning side of Algorithm 1: the global model, what each client remembers, and unsent updates."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.aggregation import Update, aggregate, discount_of, first_memory
from fallow.errors import DivergenceError
from fallow.learning.clock import Clock
from fallow.learning.cohort import choose, train_cohort
from fallow.learning.distances import distances, parameter_distances
from fallow.learning.evaluation import evaluate, evaluate_clients
from fallow.learning.kept_statistics import KeptStatistics
from fallow.learning.options import Compute, Strategy
from fallow.learning.probe import Probed, first_moments, probe, probe_batches
from fallow.learning.start_models import StartModels
from fallow.learning.state import ClientScores, LearningState, Scores, Trained
from fallow.learning.task import Task
from fallow.learning.training import Training
from fallow.learning.workers import Workers
from fallow.models.weights import Weights, running_mean
from fallow.objectives import logit_offsets
from fallow.state import check_parts

Starts = Sequence[tuple[int, NDArray[np.intp]]]
"""(slot, clients that start in it), by slot; the clients have shape (n,), intp."""


class Learner:
    """The global model and the clients' memories. It changes its arrays in place.

    A client's memory is h_i, F numbers; whole weights are kept only for updates that are not sent yet.

    Attributes:
        weights: w(t), shape (P,), float32.
        moments: h_i, shape (N, F), float32, NaN for none.
        probed: What the probe of w(t) says; None until the new model is probed.
        held: The results of trainings whose update is not sent yet, by client.
        starts: The models that these trainings began with.
        local: Each client's last model, shape (P,), float32; None for a client that keeps none (Eq. 2).
        kept: The clients' own running statistics (model.keep_local).
        losses: The root mean square of the samples' losses in each client's last training, shape (N,), float32; NaN
            for a client that finished none.
        mean_weights: The running mean of the iterates, shape (P,), float32; None where none is kept.
        seen: How far the updates before moved the model, for the guard, shape (n,), float64; None without a guard.
        scores: The scores of the model that is handed out; None until it is evaluated.
        client_scores: Its scores on each client's samples; None until it is evaluated there. Not part of the state.
        seconds: The time spent, by kind of work.
    """

    def __init__(self, task: Task, compute: Compute) -> None:
        self.task, clients = task, len(task.shards)
        self.workers = Workers(task.network, compute.workers)
        self.weights = task.network.weights()
        self.kept = KeptStatistics(task.network, keeps=task.own_statistics)
        first_moment = task.first_moment if task.probes else "infinite"
        self.moments = first_moments(first_moment, self.workers, self.weights, task.train, task.shards)
        self.probed: Probed | None = None
        self.held: dict[int, Trained] = {}
        self.starts = StartModels()
        self._cohort: dict[tuple[int, int], Trained] = {}
        self.local: list[NDArray[np.float32] | None] = [None] * clients
        self.losses = np.full(clients, np.nan, dtype=np.float32)
        self.mean_weights = self.weights if task.average else None
        self.seen = task.guard.first() if task.guard else None
        self.scores: Scores | None = None
        self.client_scores: ClientScores | None = None
        labels = task.train.labels.cpu().numpy()
        self._offsets = logit_offsets(task.objective, labels, task.shards, task.network.classes)
        self.data_sizes = task.data_sizes
        self.aggregation_state: Any = first_memory(task.aggregation, self.weights.size, self.data_sizes)
        self._first_state = self.aggregation_state
        self._clock = Clock()
        self.seconds = self._clock.seconds
        self.strategy: Strategy = compute.strategy if compute.strategy != "auto" else self._choose()

    def distances(self, epoch: int) -> NDArray[np.float32]:
        """Returns M_i of Eq. (5) under w(t), shape (N,), float32. A model is probed once, when it is new.

        Args:
            epoch: t, for the draw of the probe batches.
        """
        with self._clock("probe"):
            return distances(self._probe(epoch).features, self.moments)

    def probe_losses(self, epoch: int) -> NDArray[np.float32]:
        """Returns the mean loss of each client's probe batch under w(t), shape (N,), float32.

        Args:
            epoch: t, for the draw of the probe batches.
        """
        with self._clock("probe"):
            losses = self._probe(epoch).losses
        if losses is None:
            raise ValueError("The task does not measure losses in its probes.")
        return losses

    def _probe(self, epoch: int) -> Probed:
        """Returns what the probe of w(t) says. A model is probed once, when it is new."""
        task = self.task
        if self.probed is None:
            sizes = -(-self.data_sizes // task.steps)
            batches = probe_batches(task.seed, epoch, task.shards, sizes, task.probe_batch)
            self.probed = probe(
                self.workers, self.weights, task.train, batches, self.kept.by_client, losses=task.probes_losses
            )
        return self.probed

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
        plans = [task.plan(i, slot, self._offsets[i]) for slot, who in starts for i in who.tolist()]
        if not plans:
            return float("nan")

        def train(ready: list[Training]) -> list[Trained]:
            return train_cohort(self.workers, self.strategy, self.weights, ready, task.train, task.sgd)

        with self._clock("train"):
            cohort = self.kept.train(train, plans, self.held)
        for trained in cohort:
            if trained.diverged_at is not None and task.on_divergence == "stop":
                raise DivergenceError(f"Epoch {epoch}: {trained.fault()}")
        self._cohort, self._epoch = {(trained.client, trained.slot): trained for trained in cohort}, epoch
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
            self.losses[client] = trained.rms_loss
            self.kept.keep(trained)
            if self.task.keeps_local:
                self.local[client] = trained.weights

    def send(self, client: int, staleness: int) -> Update | None:
        """Returns a client's update as it arrives; None if it diverged or is discarded as too old.

        Args:
            client: The client.
            staleness: How many epochs ago its training started.
        """
        trained, start = self.held.pop(client), self.starts.take(client)
        if trained.diverged_at is not None or discount_of(self.task.staleness, staleness) == 0:
            return None
        return Update(client, trained.slot, trained.weights, start, int(self.data_sizes[client]), staleness)

    def sift(self, updates: Sequence[Update]) -> list[Update]:
        """Returns the updates of an epoch that the guard accepts; without a guard, all.

        Args:
            updates: The updates received in the epoch, with finite weights.
        """
        if self.task.guard is None or self.seen is None:
            return list(updates)
        self.seen, kept, _ = self.task.guard.sift(self.seen, updates)
        return kept

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
        handed_out = self.handed_out
        if not np.array_equal(weights, self.weights):
            self.weights, self.probed = weights, None
        if self.mean_weights is not None:
            self.mean_weights = running_mean(self.mean_weights, weights, self.task.average)
        if not np.array_equal(self.handed_out, handed_out):
            self.scores, self.client_scores = None, None

    @property
    def handed_out(self) -> Weights:
        """The model that is evaluated and kept: w(t), or the running mean of the iterates; shape (P,), float32."""
        return self.weights if self.mean_weights is None else self.mean_weights

    def evaluate(self) -> Scores:
        """Returns the scores of the model that is handed out; an unchanged model is not evaluated again."""
        if self.scores is None:
            with self._clock("evaluate"):
                self.scores = evaluate(self.workers, self.handed_out, self.task.test)
        return self.scores

    def evaluate_clients(self) -> ClientScores:
        """Returns the scores of the same model on each client's own samples, evaluated once."""
        if self.client_scores is None:
            with self._clock("evaluate"):
                self.client_scores = evaluate_clients(self.workers, self.handed_out, self.task.train, self.task.shards)
        return self.client_scores

    @property
    def state(self) -> LearningState:
        """Everything that the next epochs depend on. The arrays are not copied."""
        check_parts("aggregation rule", self.aggregation_state, self._first_state)
        return LearningState(
            weights=self.weights,
            moments=self.moments,
            features=self.probed.features if self.probed else None,
            probe_losses=self.probed.losses if self.probed else None,
            held=tuple(self.held.values()),
            starts=self.starts,
            local={client: weights for client, weights in enumerate(self.local) if weights is not None},
            statistics=self.kept.by_client,
            losses=self.losses,
            mean_weights=self.mean_weights,
            seen=self.seen,
            scores=self.scores,
            aggregation=self.aggregation_state,
        )

    def restore(self, state: LearningState) -> None:
        """Continues from a state.

        Args:
            state: The state. Its arrays belong to the learner from now on, which changes them.
        """
        self.weights, self.moments, self.losses, self.scores = state.weights, state.moments, state.losses, state.scores
        self.probed = None if state.features is None else Probed(state.features, state.probe_losses)
        self.held, self.client_scores = {trained.client: trained for trained in state.held}, None
        self.local = [state.local.get(client) for client in range(len(self.local))]
        self.kept.by_client, self.starts, self.mean_weights = state.statistics, state.starts, state.mean_weights
        self.aggregation_state, self.seen = state.aggregation, state.seen

    def _choose(self) -> Strategy:
        """Returns the strategy for clients of this size."""
        plans = [self.task.plan(i, 0, self._offsets[i]) for i in range(len(self.task.shards))]
        return choose(self.task.network, plans)
