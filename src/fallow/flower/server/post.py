"""What the server writes to the nodes, and who has which model already."""

from collections.abc import Iterable, Sequence
from logging import WARNING

import numpy as np
from flwr.app import Message, MessageType, RecordDict
from flwr.serverapp import Grid

from fallow.flower.internals import EXPIRED, log
from fallow.flower.server.exchange import CHECK_LIFE, GRACE, exchange, exchange_orders
from fallow.flower.server.federation import Federation
from fallow.flower.server.inbox import read_answer
from fallow.flower.server.knowledge import agreeing, asks_of
from fallow.flower.wire.arrays import to_bytes, version_of
from fallow.flower.wire.messages import Order, Outcome, Query, Standing
from fallow.flower.wire.records import to_records
from fallow.policies import AnyPolicy, Starter, needs_of
from fallow.state import take_rows, to_arrays


class Post:
    """Queries and orders of one policy, and their answers. A model goes only to nodes that need it and lack it.

    Attributes:
        policy: Who trains.
        distance: What a node measures of a new model: "features", "parameters" or "none".
        slots_per_epoch: S, which nodes must share if the policy decides slot by slot.
        reply_seconds: How long the outcome of an order is waited for; also the life of a message.
        query_seconds: How long the answer to a query is waited for; at most `reply_seconds`.
    """

    def __init__(self, policy: AnyPolicy, slots_per_epoch: int, reply_seconds: float, query_seconds: float) -> None:
        self.policy, self.slots_per_epoch = policy, slots_per_epoch
        self._needs = needs = needs_of(policy)
        self.distance, self._ideal, self._asks = needs.distance, needs.ideal, asks_of(needs)
        self.reply_seconds, self.query_seconds = reply_seconds, min(query_seconds, reply_seconds)
        self._has: dict[int, str] = {}  # the model that each node is known to have
        self._mute: set[int] = set()  # nodes that missed their last query
        self._late: dict[int, str] = {}  # the query that each of them missed
        self._chosen: set[int] = set()  # nodes whose last order needed the model: only these show that they have it

    def wait_for(self, seconds: float) -> None:
        """Changes how long an answer is waited for.

        Args:
            seconds: For an order; a query never waits longer.
        """
        self.reply_seconds, self.query_seconds = seconds, min(self.query_seconds, seconds)

    def query(self, grid: Grid, federation: Federation, nodes: set[int]) -> dict[int, Standing]:
        """Asks every node how it stands, and returns the answers by node.

        Nodes that turn out to lack the model are asked again, with the model.

        Args:
            grid: From Flower.
            federation: The state before the round.
            nodes: Ids of the nodes to ask.
        """
        self._hear_late(grid)
        standings = self._ask(grid, federation, nodes)
        lacking = {node for node, standing in standings.items() if standing.lacks_model}
        for node in lacking:
            self._has.pop(node, None)
        standings |= self._ask(grid, federation, lacking)
        return agreeing(federation, {node: one for node, one in standings.items() if not one.lacks_model})

    def order(self, federation: Federation, client: int, *, selected: bool) -> Message:
        """Returns the message that lets a client live through this epoch.

        Args:
            federation: The state before the selection takes effect.
            client: Its number.
            selected: Whether it may train.
        """
        node, version = federation.roster.nodes[client], version_of(federation.model)
        starter = isinstance(self.policy, Starter) and selected
        own = take_rows(federation.policy_state, np.array([client]), federation.age.size) if starter else None
        order = Order(
            federation=federation.name,
            epoch=federation.epoch,
            version=version,
            ideal=self._ideal,
            distance=self.distance,
            selected=selected,
            received=federation.roster.received[client],
            policy=repr(self.policy) if starter else "",
            memory=to_bytes(to_arrays(own)) if starter else b"",
            slots_per_epoch=self.slots_per_epoch,
            asks=self._asks,
        )
        federation.sent.order(client, federation.epoch, federation.weights)  # until it says that it began nothing
        self._chosen = self._chosen | {node} if selected else self._chosen - {node}
        sends_model = selected and self._has.get(node) != version
        content = to_records(order, federation.model if sends_model else None)
        return self._message(federation, content, node, MessageType.TRAIN)

    def collect(self, grid: Grid, federation: Federation, orders: Sequence[Message]) -> dict[int, Message]:
        """Sends this round's orders and returns the replies, by node; an order that got lost is sent again.

        Args:
            grid: From Flower.
            federation: Whose round it is.
            orders: As `order` makes them.
        """
        contents = {message.metadata.dst_node_id: message.content for message in orders}

        def ask(nodes: Iterable[int]) -> list[Message]:
            content, kind = to_records(self._query(federation)), MessageType.QUERY
            return [Message(content, node, kind, ttl=CHECK_LIFE, group_id=str(federation.epoch)) for node in nodes]

        def again(nodes: Iterable[int]) -> list[Message]:
            for node in nodes:
                log(WARNING, "%s has lost its order; it is sent again.", federation.roster.called(node))
            return [self._message(federation, contents[node], node, MessageType.TRAIN) for node in nodes]

        return exchange_orders(grid, orders, self.reply_seconds, ask, again)

    def outcomes(
        self, federation: Federation, present: dict[int, int], replies: dict[int, Message]
    ) -> dict[int, tuple[Outcome, Message]]:
        """Returns the answers to this round's orders, by client.

        Args:
            federation: Whose round it is.
            present: The clients of this round, by node.
            replies: What came, by node.
        """
        outcomes: dict[int, tuple[Outcome, Message]] = {}
        for node, reply in sorted(replies.items()):
            who = federation.roster.called(node)
            outcome, client = read_answer(Outcome, who, reply), present.get(node)
            if outcome is None or client is None:
                continue
            if outcome.identity != federation.roster.names[client] or outcome.epoch != federation.epoch:
                log(WARNING, "Refused: %s answers as '%s' for epoch %s.", who, outcome.identity, outcome.epoch)
            elif outcome.lacks_model:
                self._has.pop(node, None)
                log(WARNING, "%s has lost its model; it is sent again next round.", outcome.identity)
            else:
                if node in self._chosen:
                    self._has[node] = version_of(federation.model)
                outcomes[client] = (outcome, reply)
        return outcomes

    def _ask(self, grid: Grid, federation: Federation, nodes: set[int]) -> dict[int, Standing]:
        """Sends the query, and the model to those who must probe it and are not known to have it."""
        query = self._query(federation)
        version = query.version
        bare, whole = to_records(query), to_records(query, federation.model)
        get_model = {node for node in nodes if query.probes and self._has.get(node) != version}
        messages = [
            self._message(federation, whole if node in get_model else bare, node, MessageType.QUERY)
            for node in sorted(nodes)
        ]
        replies, unanswered = exchange(grid, messages, self.query_seconds, self._mute)
        self._late |= {node: identifier for identifier, node in unanswered.items()}
        expired = {node for node, reply in replies.items() if reply.has_error() and reply.error.code == EXPIRED}
        self._note_mute(federation, expired | set(unanswered.values()), nodes)
        standings = {}
        for node, reply in sorted(replies.items()):
            standing = read_answer(Standing, federation.roster.called(node), reply, query)
            if standing is not None:
                standings[node] = standing
                if node in get_model:
                    self._has[node] = version
        return standings

    def _query(self, federation: Federation) -> Query:
        needs = self._needs
        return Query(
            federation=federation.name,
            epoch=federation.epoch,
            version=version_of(federation.model),
            distance=self.distance,
            ideal=self._ideal,
            asks=self._asks,
            forecast_epochs=needs.forecast_epochs,
            forecast_error=needs.forecast_error if needs.forecast_epochs else 0.0,
        )

    def _note_mute(self, federation: Federation, missed: set[int], asked: set[int]) -> None:
        for node in sorted(missed - self._mute):
            log(
                WARNING,
                "%s did not answer in %g seconds; until it does, rounds wait for it %g seconds after all others.",
                *(federation.roster.called(node), self.query_seconds, GRACE),
            )
        self._mute = (self._mute - asked) | missed

    def _hear_late(self, grid: Grid) -> None:
        """Takes nodes whose answer came after all, however late, for nodes that are slow and not mute."""
        nodes = {identifier: node for node, identifier in self._late.items()}
        for reply in grid.pull_messages(list(nodes)) if nodes else ():
            node = nodes.get(reply.metadata.reply_to_message_id)
            if node is not None:
                del self._late[node]  # what Flower says of a query that has expired is no answer
                self._mute -= set() if reply.has_error() else {node}

    def _message(self, federation: Federation, content: RecordDict, node: int, kind: str) -> Message:
        seconds = self.query_seconds if kind == MessageType.QUERY else self.reply_seconds
        return Message(content, node, kind, ttl=seconds, group_id=str(federation.epoch))
