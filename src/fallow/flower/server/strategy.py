"""The server side: a Flower strategy that lets any Fallow policy decide who trains.

strategy = FallowStrategy(VAoI(k=10, mu=0.5), directory=Path("federation"))
strategy.start(grid, initial_arrays, num_rounds=500)
"""

from collections.abc import Callable, Iterable
from contextlib import closing
from logging import INFO, WARNING
from pathlib import Path

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord
from flwr.serverapp import Grid
from flwr.serverapp.strategy import Result, Strategy

from fallow.aggregation import AnyAggregation, Guard, Staleness
from fallow.aggregation.received import Received
from fallow.aggregation.staleness import Constant
from fallow.errors import ConfigError
from fallow.flower.internals import log
from fallow.flower.server.combination import GUARD, Rules, check_fruitful, settle
from fallow.flower.server.exchange import wait_for_nodes
from fallow.flower.server.federation import Federation, FederationDirectory, Row, begin_federation
from fallow.flower.server.post import Post
from fallow.flower.server.selection import select
from fallow.flower.server.tracking import RoundTrackers
from fallow.flower.wire.arrays import from_array_record, to_array_record
from fallow.paper import next_version_age
from fallow.policies import AnyPolicy, needs_of
from fallow.storage.locks import lock

LOCK_SECONDS = 120.0
"""How long a server waits for one before it, which may not notice at once that its SuperLink died."""

EvaluateFunction = Callable[[int, ArrayRecord], MetricRecord | None]


class FallowStrategy(Strategy):
    """Each round: query every node, let the policy choose, order the chosen to train, aggregate what arrives.

    Attributes:
        policy: Any policy of Fallow's; its memory is kept by the clients' own names.
        federation: The state; None before `start`.
        post: What is written to the nodes.
    """

    def __init__(
        self,
        policy: AnyPolicy,
        *,
        aggregation: AnyAggregation | None = None,
        staleness: Staleness | None = None,
        average: float = 0.0,
        seed: int = 0,
        slots_per_epoch: int = 30,
        directory: Path | None = None,
        min_nodes: int = 1,
        patience: float = 60.0,
        reply_seconds: float = 3600.0,
        query_seconds: float = 300.0,
        guard: float = GUARD,
        trackers: RoundTrackers | None = None,
    ) -> None:
        """Sets the rules of the federation.

        Args:
            policy: Who trains.
            aggregation: How updates make the next model; as in the paper by default.
            staleness: How much an update's weight shrinks with its age; not at all by default.
            average: Share of a running mean of the iterates that each round keeps; the mean is scored and handed out,
                while nodes train from the newest model. 0 is none.
            seed: Of the policy's draws.
            slots_per_epoch: S, for policies that count slots; if one decides slot by slot, nodes must have the same.
            directory: Where the state is kept after each round; a federation that is there goes on. None: nowhere.
            min_nodes: How many nodes a round waits for.
            patience: Seconds that it waits; then it goes on with those who are there, if anybody is.
            reply_seconds: How long the outcome of an order is waited for; also the life of a message.
            query_seconds: How long the answer to a query is waited for, which is a forward pass at most. A node that
                missed its last query is waited for only a little longer than the others.
            guard: An update that moved the model so many times as far as the median of others is refused (`Guard`); 0
                refuses none.
            trackers: Who is told of the rounds; nobody by default. They need a directory.

        Raises:
            ConfigError: `average` is no share below 1, or `guard` is below 0.
        """
        if not 0 <= average < 1:
            raise ConfigError(f"FallowStrategy has average = {average}; it must be 0 or more, and less than 1.")
        if not 0 <= guard < np.inf:
            raise ConfigError(f"FallowStrategy has guard = {guard}; it must be a finite number of 0 or more.")
        self.policy, self.average = policy, average
        self.aggregation: AnyAggregation = aggregation if aggregation is not None else Received()
        far = Guard(guard) if guard else None
        self._rules = Rules(policy, self.aggregation, staleness or Constant(), average, far)
        self.seed, self.slots_per_epoch, self.directory = seed, slots_per_epoch, directory
        self.min_nodes, self.patience = min_nodes, patience
        self.post = Post(policy, slots_per_epoch, reply_seconds, query_seconds)
        self.trackers = trackers or RoundTrackers()
        self.federation: Federation | None = None
        self._kept: FederationDirectory | None = None
        self._present: dict[int, int] = {}  # this round's clients, by node
        self._row: Row = {}
        self._ordered = 0  # nodes that got orders in this round

    def start(
        self,
        grid: Grid,
        initial_arrays: ArrayRecord,
        num_rounds: int = 3,
        timeout: float | None = None,
        train_config: ConfigRecord | None = None,
        evaluate_config: ConfigRecord | None = None,
        evaluate_fn: EvaluateFunction | None = None,
    ) -> Result:
        """Carries out the rounds that are left of `num_rounds`, with a checkpoint after each, and returns the result.

        Args:
            grid: From Flower.
            initial_arrays: w(0), by parameter; a federation that goes on has its own.
            num_rounds: T, counted from the federation's beginning.
            timeout: Stands in for `reply_seconds`.
            train_config: Must be empty: Fallow decides what nodes are told.
            evaluate_config: Must be empty: nodes evaluate nothing, because it would cost them energy.
            evaluate_fn: Scores the model on the server, at the beginning and after each round.

        Raises:
            ConfigError: `train_config` or `evaluate_config` is not empty.
            DivergenceError: The trainings of the last rounds were all in vain.
        """
        if train_config or evaluate_config:
            raise ConfigError("FallowStrategy takes no train_config and no evaluate_config.")
        if timeout is not None:
            self.post.wait_for(timeout)
        if self.directory is None:
            return self._start(grid, initial_arrays, num_rounds, evaluate_fn)
        self.directory.mkdir(parents=True, exist_ok=True)
        with closing(lock(self.directory, LOCK_SECONDS)):
            return self._start(grid, initial_arrays, num_rounds, evaluate_fn)

    def _start(
        self, grid: Grid, initial_arrays: ArrayRecord, num_rounds: int, evaluate_fn: EvaluateFunction | None
    ) -> Result:
        federation = self._open(initial_arrays)
        self.trackers.begin(self.directory, federation.rounds)
        self.summary()
        result = Result(arrays=to_array_record(federation.handed_out))
        if federation.epoch == 0 and evaluate_fn:
            self._score(evaluate_fn, 0, result)
        while federation.epoch < num_rounds:
            number = federation.epoch + 1
            log(INFO, "[ROUND %s/%s]", number, num_rounds)
            messages = self.configure_train(number, result.arrays, ConfigRecord(), grid)
            result.arrays, metrics = self._aggregate(self.post.collect(grid, federation, list(messages)))
            result.train_metrics_clientapp[number] = metrics
            if evaluate_fn:
                self._score(evaluate_fn, number, result)
            federation.rounds.append(self._row)
            federation.epoch += 1
            self.trackers.log(self._row)
            self._save()
            log(INFO, "\t%s", ", ".join(f"{key} {value}" for key, value in self._row.items()))
            check_fruitful(federation)
        self.trackers.end(federation.rounds)
        return result

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Queries every connected node and returns the orders of this round."""
        federation = self._federation()
        connected = wait_for_nodes(grid, self.min_nodes, self.patience)
        standings = self.post.query(grid, federation, connected)
        claims = [(node, standing.identity, standing.data_size) for node, standing in standings.items()]
        self._present, refused = federation.roster.admit(claims, connected)
        for sentence in refused:
            log(WARNING, "Refused: %s", sentence)
        federation.grow(self.policy, self.aggregation)
        by_client = {client: standings[node] for node, client in self._present.items()}
        self._selected, self._distances = select(self.policy, federation, by_client, self.seed, self.slots_per_epoch)
        who = np.array(sorted(by_client), dtype=np.intp)
        self._row = {
            "round": server_round,
            "connected": len(connected),
            "answered": len(who),
            "selected": int(self._selected.sum()),
            "mean_battery": float(np.mean([by_client[i].battery for i in who])) if who.size else None,
        }
        orders = []
        for client in who.tolist():
            waits, selected = federation.waits_for(client, by_client[client]), bool(self._selected[client])
            if selected or waits:
                orders.append(self.post.order(federation, client, selected=selected))
        self._row["orders"] = self._ordered = len(orders)
        return orders

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Returns the model to hand out and the round's metrics. Errors of lost nodes are matched only in `start`."""
        return self._aggregate({reply.metadata.src_node_id: reply for reply in replies})

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Returns no messages: an evaluation would cost nodes energy."""
        return []

    def aggregate_evaluate(self, server_round: int, replies: Iterable[Message]) -> MetricRecord | None:
        """Returns None: nothing was asked."""
        return None

    def summary(self) -> None:
        """Logs what the federation is."""
        federation = self._federation()
        log(INFO, "\t├── %s", self._description())
        log(INFO, "\t├── Federation %s, %s rounds done", federation.name, federation.epoch)
        if needs_of(self.policy).label_mix:
            log(WARNING, "\t├── %s asks nodes for the mix of their labels: that breaks their privacy", self.policy)
        log(INFO, "\t└── Kept in %s", self.directory or "memory only: it can't be resumed")

    def _open(self, initial_arrays: ArrayRecord) -> Federation:
        if self.directory is not None:
            self._kept = FederationDirectory(self.directory, self.policy, self.aggregation, self._description())
        found = self._kept.read() if self._kept else None
        self.federation = found or begin_federation(from_array_record(initial_arrays), self.aggregation, self.average)
        self._save()  # so that the nodes' memories keep their federation, even if the first round is cut short
        return self.federation

    def _federation(self) -> Federation:
        if self.federation is None:
            raise ConfigError("The federation has not begun; call start.")
        return self.federation

    def _description(self) -> str:
        return f"{self._rules.in_words}, seed {self.seed}"

    def _save(self) -> None:
        if self._kept is not None:
            self._kept.write(self._federation())

    def _score(self, evaluate_fn: EvaluateFunction, number: int, result: Result) -> None:
        scores = evaluate_fn(number, result.arrays)
        if scores is not None:
            result.evaluate_metrics_serverapp[number] = scores
            self._row |= dict(scores)

    def _aggregate(self, replies: dict[int, Message]) -> tuple[ArrayRecord, MetricRecord]:
        """Alg. 1, lines 20-21, of what really arrived."""
        federation = self._federation()
        outcomes = self.post.outcomes(federation, self._present, replies)
        self._row |= settle(federation, outcomes, self._selected, self._ordered, self._rules)
        if self.post.distance != "none":
            threshold = needs_of(self.policy).threshold
            federation.age = next_version_age(federation.age, self._distances, threshold, federation.delivered)
            self._row["mean_age"] = float(federation.age.mean()) if federation.age.size else None
        metrics = MetricRecord()
        metrics.update({key: value for key, value in self._row.items() if isinstance(value, int | float)})
        return to_array_record(federation.handed_out), metrics
