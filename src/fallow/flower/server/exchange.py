"""Sending messages to nodes and waiting for their replies, over whatever grid Flower gives."""

import time
from collections.abc import Sequence

from flwr.app import Message
from flwr.serverapp import Grid

FIRST_PAUSE = 0.02
LONGEST_PAUSE = 1.0
"""Seconds between two looks for replies: short at first, so that quick nodes are not waited for."""


def exchange(grid: Grid, messages: Sequence[Message], timeout: float) -> dict[int, Message]:
    """Sends messages and returns the replies, by node. Nodes that do not answer in time are left out.

    The error reply of a lost node has another sender's id. So replies are matched by the message that they answer.

    Args:
        grid: From Flower.
        messages: One for each node.
        timeout: Seconds.
    """
    if not messages:
        return {}
    grid.push_messages(messages)
    asked = {message.metadata.message_id: message.metadata.dst_node_id for message in messages}
    replies: dict[int, Message] = {}
    deadline, pause = time.monotonic() + timeout, FIRST_PAUSE
    while True:
        for reply in grid.pull_messages(list(asked)):
            node = asked.pop(reply.metadata.reply_to_message_id, None)
            if node is not None:
                replies[node] = reply
        if not asked or time.monotonic() >= deadline:
            return replies
        time.sleep(min(pause, max(deadline - time.monotonic(), 0)))
        pause = min(2 * pause, LONGEST_PAUSE)


def wait_for_nodes(grid: Grid, count: int, patience: float) -> set[int]:
    """Waits for nodes to connect, and returns those that are connected.

    Args:
        grid: From Flower.
        count: How many nodes are enough.
        patience: Seconds to wait for so many.
    """
    deadline, pause = time.monotonic() + patience, FIRST_PAUSE
    while True:
        nodes = set(grid.get_node_ids())
        if len(nodes) >= count or time.monotonic() >= deadline:
            return nodes
        time.sleep(min(pause, max(deadline - time.monotonic(), 0)))
        pause = min(2 * pause, LONGEST_PAUSE)
