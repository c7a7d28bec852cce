"""Sending messages to nodes and waiting for their replies, over whatever grid Flower gives."""

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from logging import WARNING
from typing import NamedTuple

from flwr.app import Message
from flwr.serverapp import Grid

from fallow.flower.internals import log

FIRST_PAUSE = 0.02
LONGEST_PAUSE = 1.0
"""Seconds between two looks for replies: short at first, so that quick nodes are not waited for."""

GRACE = 10.0
"""Seconds that a node which missed its last message is waited for, after all others have answered."""

CHECK_EVERY = 60.0
"""Seconds between two looks whether nodes that are still at work have lost their orders."""

CHECK_LIFE = 20.0
"""Seconds for which the message of such a look can be fetched. A node at work fetches nothing, and it expires."""


class Sent:
    """Messages that were sent and are not answered.

    Attributes:
        asked: The node of each, by the message's id.
    """

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self.asked: dict[str, int] = {}

    @property
    def nodes(self) -> set[int]:
        """Who has not answered."""
        return set(self.asked.values())

    def push(self, messages: Sequence[Message]) -> None:
        """Sends messages.

        Args:
            messages: To nodes; each message is sent once.
        """
        if messages:
            self._grid.push_messages(messages)
            self.asked |= {message.metadata.message_id: message.metadata.dst_node_id for message in messages}

    def pull(self) -> dict[int, Message]:
        """Returns the replies that have come, by node.

        The error reply of a lost node has another sender's id. So replies are matched by the message that they answer.
        """
        replies: dict[int, Message] = {}
        for reply in self._grid.pull_messages(list(self.asked)) if self.asked else ():
            node = self.asked.pop(reply.metadata.reply_to_message_id, None)
            if node is not None:
                replies[node] = reply
        return replies


class Exchanged(NamedTuple):
    """What came of an exchange.

    Attributes:
        replies: By node.
        unanswered: The node of each message that was not answered, by the message's id.
    """

    replies: dict[int, Message]
    unanswered: dict[str, int]


def exchange(
    grid: Grid, messages: Sequence[Message], timeout: float, mute: Collection[int] = (), grace: float = GRACE
) -> Exchanged:
    """Sends messages and returns the replies. Nodes that do not answer in time are left out.

    Args:
        grid: From Flower.
        messages: One for each node.
        timeout: Seconds.
        mute: Nodes that are waited for only a little longer than the others; if there are no others, as long as they.
        grace: Seconds of that.
    """
    sent = Sent(grid)
    sent.push(messages)
    replies: dict[int, Message] = {}
    alone = sent.nodes <= set(mute)
    pauses = _Pauses(timeout)
    while True:
        replies |= sent.pull()
        if sent.nodes <= set(mute) and not alone:
            pauses.end_within(grace)
        if not sent.asked or pauses.over:
            return Exchanged(replies, sent.asked)
        pauses.wait()


def exchange_orders(
    grid: Grid,
    orders: Sequence[Message],
    timeout: float,
    ask: Callable[[Iterable[int]], list[Message]],
    again: Callable[[Iterable[int]], list[Message]],
) -> dict[int, Message]:
    """Sends orders and returns the replies, by node; an order that got lost is sent again.

    A node fetches its messages one after the other, the oldest first. So one that answers a later message and not its
    order has lost the order: it died over it, and came back before anybody noticed that it was gone.

    Args:
        grid: From Flower.
        orders: One for each node; carrying one out twice must be the same as once.
        timeout: Seconds.
        ask: Returns a message that any node can answer, for each of these nodes.
        again: Returns the orders of these nodes once more, as new messages.
    """
    sent, looks = Sent(grid), Sent(grid)
    sent.push(orders)
    replies: dict[int, Message] = {}
    pauses = _Pauses(timeout)
    look_at = time.monotonic() + CHECK_EVERY
    while True:
        replies |= sent.pull()
        waiting = sent.nodes - replies.keys()
        if not waiting or pauses.over:
            return replies
        alive = {node for node, reply in looks.pull().items() if not reply.has_error()}
        sent.push(again(sorted(alive & waiting)))
        if time.monotonic() >= look_at:
            looks.push(ask(sorted(waiting)))
            look_at += CHECK_EVERY
        pauses.wait()


def wait_for_nodes(grid: Grid, count: int, patience: float) -> set[int]:
    """Waits for nodes to connect, and returns those that are connected: at least one.

    Args:
        grid: From Flower.
        count: How many nodes are enough.
        patience: Seconds to wait for so many; for the first of them it waits as long as it takes.
    """
    pauses = _Pauses(patience)
    told = False
    while True:
        nodes = set(grid.get_node_ids())
        if nodes and (len(nodes) >= count or pauses.over):
            return nodes
        if pauses.over and not told:
            told = True
            log(WARNING, "Nobody is connected; the round waits for the first node.")
        pauses.wait()


class _Pauses:
    """Pauses between looks, short ones first, until a time is over."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._pause = FIRST_PAUSE

    @property
    def over(self) -> bool:
        return time.monotonic() >= self._end

    def end_within(self, seconds: float) -> None:
        """Brings the end nearer, if it is farther than so many seconds; once it is nearer, it stays where it is."""
        self._end = min(self._end, time.monotonic() + seconds)

    def wait(self) -> None:
        left = self._end - time.monotonic()
        time.sleep(min(self._pause, left) if left > 0 else self._pause)
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
