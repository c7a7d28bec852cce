"""The server side: a Flower strategy that lets any Fallow policy decide who trains.

strategy = FallowStrategy(VAoI(k=10, mu=0.5), directory=Path("federation"))
strategy.start(grid, initial_arrays, num_rounds=500)
"""

from collections.abc import Callable, Iterable
from logging import INFO, WARNING
from pathlib import Path

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Message, MessageType, MetricRecord, RecordDict
from flwr.serverapp import Grid
from flwr.serverapp.strategy import Result, Strategy
from flwr.supercore import log

from fallow.errors import ConfigError
from fallow.flower import federation as federations
from fallow.flower.exchange import exchange, wait_for_nodes
from fallow.flower.federation import Federation, Row
from fallow.flower.inbox import read_answer, sound_updates, take_over_memory
from fallow.flower.messages import (
    Order,
    Outcome,
    Query,
    Standing,
    flattened,
    from_array_record,
    named,
    to_array_record,
    to_bytes,
    to_records,
    version_of,
)
from fallow.flower.selection import select
from fallow.learning.aggregation import AnyAggregation, Staleness, Update, aggregate
from fallow.learning.aggregation.received import Received
from fallow.learning.aggregation.staleness import Constant
from fallow.locks import lock
from fallow.paper import next_version_age
from fallow.policies import AnyPolicy, Starter
from fallow.state import take_rows, to_arrays

LOCK_SECONDS = 120.0
"""How long a server waits for one before it, which may not notice at once that its SuperLink died."""

EvaluateFunction = Callable[[int, ArrayRecord], MetricRecord | None]


class FallowStrategy(Strategy):
    """Each round: query every node, let the policy choose, order the chosen to train, aggregate what arrives.

    Attributes:
        policy: Any policy of Fallow's; its memory is kept by the clients' own names.
        federation: The state; None before `start`.
    """

    def __init__(
        self,
        policy: AnyPolicy,
        *,
        aggregation: AnyAggregation | None = None,
        staleness: Staleness | None = None,
        seed: int = 0,
        slots_per_epoch: int = 30,
        directory: Path | None = None,
        min_nodes: int = 1,
        patience: float = 60.0,
        reply_seconds: float = 3600.0,
        query_seconds: float = 300.0,
    ) -> None:
        """Sets the rules of the federation.

        Args:
            policy: Who trains.
            aggregation: How updates make the next model; as in the paper by default.
            staleness: What age leaves of an update's weight; all of it by default.
            seed: Of the policy's draws.
            slots_per_epoch: S, for policies that count slots.
            directory: Where the state is kept after each round; a federation that is there goes on. None: nowhere.
            min_nodes: How many nodes a round waits for.
            patience: Seconds that it waits; then it goes on with those who are there.
            reply_seconds: How long the outcome of an order is waited for; also the life of a message.
            query_seconds: The same for a query, which takes a node no more than a forward pass.
        """
        self.policy = policy
        self.aggregation: AnyAggregation = aggregation if aggregation is not None else Received()
        self.staleness = staleness or Constant()
        self.seed, self.slots_per_epoch, self.directory = seed, slots_per_epoch, directory
        self.min_nodes, self.patience, self.reply_seconds = min_nodes, patience, reply_seconds
        self.query_seconds = min(query_seconds, reply_seconds)
        self.federation: Federation | None = None
        self._distance = getattr(policy, "distance", "features") if getattr(policy, "probes", False) else "none"
        self._has: dict[int, str] = {}  # the model that each node is known to have
        self._present: dict[int, int] = {}  # this round's clients, by node
        self._row: Row = {}

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
        """Carries out the rounds that are left of `num_rounds`, with a checkpoint after each.

        Args:
            grid: From Flower.
            initial_arrays: w(0), by parameter; a federation that goes on has its own.
            num_rounds: T, counted from the federation's beginning.
            timeout: Stands in for `reply_seconds`.
            train_config: Must be empty: what nodes are told is Fallow's own.
            evaluate_config: Likewise; nodes evaluate nothing, it would cost them energy.
            evaluate_fn: Scores the model on the server, at the beginning and after each round.
        """
        if train_config or evaluate_config:
            raise ConfigError("FallowStrategy takes no train_config and no evaluate_config.")
        if timeout is not None:
            self.reply_seconds, self.query_seconds = timeout, min(self.query_seconds, timeout)
        if self.directory is None:
            return self._start(grid, initial_arrays, num_rounds, evaluate_fn)
        self.directory.mkdir(parents=True, exist_ok=True)
        held = lock(self.directory, LOCK_SECONDS)
        try:
            return self._start(grid, initial_arrays, num_rounds, evaluate_fn)
        finally:
            held.close()

    def _start(
        self, grid: Grid, initial_arrays: ArrayRecord, num_rounds: int, evaluate_fn: EvaluateFunction | None
    ) -> Result:
        federation = self._open(initial_arrays)
        self.summary()
        result = Result(arrays=to_array_record(federation.model))
        if federation.epoch == 0 and evaluate_fn:
            self._score(evaluate_fn, 0, result)
        while federation.epoch < num_rounds:
            number = federation.epoch + 1
            log(INFO, "[ROUND %s/%s]", number, num_rounds)
            messages = self.configure_train(number, result.arrays, ConfigRecord(), grid)
            _, metrics = self._aggregate(exchange(grid, list(messages), self.reply_seconds))
            result.arrays = to_array_record(federation.model)
            result.train_metrics_clientapp[number] = metrics
            if evaluate_fn:
                self._score(evaluate_fn, number, result)
            federation.rounds.append(self._row)
            federation.epoch += 1
            self._save()
            log(INFO, "\t%s", ", ".join(f"{key} {value}" for key, value in self._row.items()))
        return result

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Queries every connected node and returns the orders of this round."""
        federation = self._federation()
        connected = wait_for_nodes(grid, self.min_nodes, self.patience)
        standings = self._query(grid, connected)
        claims = [(node, standing.identity, standing.data_size) for node, standing in standings.items()]
        self._present, refused = federation.roster.admit(claims, connected)
        for sentence in refused:
            log(WARNING, "Refused: %s", sentence)
        federation.grow(self.policy, self.aggregation)
        by_client = {client: standings[node] for node, client in self._present.items()}
        selected, self._distances = select(self.policy, federation, by_client, self.seed, self.slots_per_epoch)
        who = np.array(sorted(by_client), dtype=np.intp)
        self._row = {
            "round": server_round,
            "connected": len(connected),
            "answered": len(who),
            "selected": int(selected.sum()),
            "mean_battery": float(np.mean([by_client[i].battery for i in who])) if who.size else None,
        }
        orders = []
        for client in who.tolist():
            standing, received = by_client[client], federation.roster.received[client]
            waits = standing.training or standing.unsent or any(slot > received for slot in standing.paid_for)
            if selected[client] or waits:
                orders.append(self._order(client, selected=bool(selected[client])))
        self._row["orders"] = len(orders)
        return orders

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Aggregates replies in whatever order they came. Lost nodes' errors are matched only in `start`."""
        return self._aggregate({reply.metadata.src_node_id: reply for reply in replies})

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Asks no node: an evaluation would cost it energy."""
        return []

    def aggregate_evaluate(self, server_round: int, replies: Iterable[Message]) -> MetricRecord | None:
        """Nothing was asked."""
        return None

    def summary(self) -> None:
        """Tells what the federation is."""
        federation = self._federation()
        log(INFO, "\t├── %s", self._description())
        log(INFO, "\t├── Federation %s, %s rounds done", federation.name, federation.epoch)
        log(INFO, "\t└── Kept in %s", self.directory or "memory only: it can't be resumed")

    def _open(self, initial_arrays: ArrayRecord) -> Federation:
        found = None
        if self.directory is not None:
            found = federations.load(self.directory, self.policy, self.aggregation, self._description())
        self.federation = found or federations.begin(from_array_record(initial_arrays), self.aggregation)
        self._save()  # so that the nodes' memories keep their federation, even if the first round is cut short
        return self.federation

    def _federation(self) -> Federation:
        if self.federation is None:
            raise ConfigError("The federation has not begun; call start.")
        return self.federation

    def _description(self) -> str:
        return f"policy {self.policy}, aggregation {self.aggregation}, staleness {self.staleness}, seed {self.seed}"

    def _save(self) -> None:
        if self.directory is not None:
            federations.save(self.directory, self._federation(), self._description())

    def _score(self, evaluate_fn: EvaluateFunction, number: int, result: Result) -> None:
        scores = evaluate_fn(number, result.arrays)
        if scores is not None:
            result.evaluate_metrics_serverapp[number] = scores
            self._row |= dict(scores)

    def _message(self, content: RecordDict, node: int, kind: str) -> Message:
        group = str(self._federation().epoch)
        seconds = self.query_seconds if kind == MessageType.QUERY else self.reply_seconds
        return Message(content, node, kind, ttl=seconds, group_id=group)

    def _query(self, grid: Grid, nodes: set[int]) -> dict[int, Standing]:
        """Asks every node how it stands; asks those again, with the model, who turn out to lack it."""
        standings = self._ask(grid, nodes)
        lacking = {node for node, standing in standings.items() if standing.lacks_model}
        for node in lacking:
            self._has.pop(node, None)
        standings |= self._ask(grid, lacking)
        return {node: standing for node, standing in standings.items() if not standing.lacks_model}

    def _ask(self, grid: Grid, nodes: set[int]) -> dict[int, Standing]:
        """Sends the query, and the model to those who must probe it and are not known to have it."""
        federation = self._federation()
        version = version_of(federation.model)
        query = Query(federation.name, federation.epoch, version, self._distance, self._ideal)
        bare, whole = to_records(query), to_records(query, federation.model)
        get_model = {node for node in nodes if self._distance != "none" and self._has.get(node) != version}
        messages = [
            self._message(whole if node in get_model else bare, node, MessageType.QUERY) for node in sorted(nodes)
        ]
        standings = {}
        for node, reply in sorted(exchange(grid, messages, self.query_seconds).items()):
            standing = read_answer(Standing, node, reply)
            if standing is not None:
                standings[node] = standing
                if node in get_model:
                    self._has[node] = version
        return standings

    @property
    def _ideal(self) -> bool:
        return bool(getattr(self.policy, "ideal", False))

    def _order(self, client: int, *, selected: bool) -> Message:
        federation = self._federation()
        node, version = federation.roster.nodes[client], version_of(federation.model)
        starter = isinstance(self.policy, Starter) and selected
        own = take_rows(federation.policy_state, np.array([client]), federation.age.size) if starter else None
        order = Order(
            federation=federation.name,
            epoch=federation.epoch,
            version=version,
            ideal=self._ideal,
            distance=self._distance,
            selected=selected,
            received=federation.roster.received[client],
            policy=repr(self.policy) if starter else "",
            memory=to_bytes(to_arrays(own)) if starter else b"",
        )
        sends_model = selected and self._has.get(node) != version
        return self._message(to_records(order, federation.model if sends_model else None), node, MessageType.TRAIN)

    def _aggregate(self, replies: dict[int, Message]) -> tuple[ArrayRecord, MetricRecord]:
        """Alg. 1, lines 20-21, of what really arrived; sorted, so the order of arrival changes nothing."""
        federation = self._federation()
        outcomes = self._outcomes(replies)
        received: list[tuple[Update, float]] = []
        refused = 0
        for client in sorted(outcomes):
            outcome, reply = outcomes[client]
            if outcome.declined:
                log(INFO, "%s did not train: %s.", outcome.identity, outcome.declined)
            own, bad = sound_updates(federation, client, outcome, reply)
            received, refused = received + own, refused + bad
            take_over_memory(federation, client, outcome)
        flat = flattened(federation.model, federation.model)
        used = [update for update, _ in received if self.staleness.discount(update.staleness) > 0]
        federation.aggregation_state, weights = aggregate(
            self.aggregation, federation.aggregation_state, flat, used, self.staleness
        )
        federation.model = named(weights, federation.model)
        delivered = np.zeros(federation.age.size, dtype=np.bool_)
        delivered[[update.client for update in used]] = True
        federation.delivered = delivered
        self._row |= {
            "trained": sum(outcome.trained for outcome, _ in outcomes.values()),
            "declined": sum(bool(outcome.declined) for outcome, _ in outcomes.values()),
            "silent": self._row["orders"] - len(outcomes),
            "updates": len(used),
            "late": sum(update.staleness > 0 for update in used),
            "discarded": len(received) - len(used),
            "refused": refused,
            "train_loss": float(np.mean([loss for _, loss in received])) if received else None,
        }
        if self._distance != "none":
            mu = float(getattr(self.policy, "mu", 0.5))
            federation.age = next_version_age(federation.age, self._distances, mu, delivered)
            self._row["mean_age"] = float(federation.age.mean()) if federation.age.size else None
        metrics = MetricRecord()
        metrics.update({key: value for key, value in self._row.items() if isinstance(value, int | float)})
        return to_array_record(federation.model), metrics

    def _outcomes(self, replies: dict[int, Message]) -> dict[int, tuple[Outcome, Message]]:
        """Returns the answers to this round's orders, by client."""
        federation = self._federation()
        outcomes: dict[int, tuple[Outcome, Message]] = {}
        for node, reply in sorted(replies.items()):
            outcome, client = read_answer(Outcome, node, reply), self._present.get(node)
            if outcome is None or client is None:
                continue
            if outcome.identity != federation.roster.names[client] or outcome.epoch != federation.epoch:
                log(WARNING, "Refused: node %s answers as '%s' for epoch %s.", node, outcome.identity, outcome.epoch)
            elif outcome.lacks_model:
                self._has.pop(node, None)
                log(WARNING, "%s has lost its model; it is sent again next round.", outcome.identity)
            else:
                self._has[node] = version_of(federation.model)
                outcomes[client] = (outcome, reply)
        return outcomes
