"""Nodes that stay in one process: what is the same for all of them is done once, before each answers for itself.

Nothing is decided here. Each node finds at hand what it would have come to alone: the model, decoded and checked; what
its probe batch says of it; and its battery, brought up to the epoch.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from flwr.app import Context, Message, MessageType, RecordDict
from numpy.typing import NDArray

from fallow.errors import FallowError
from fallow.flower.batteries import Emulated
from fallow.flower.batteries.open_emulated import OpenEmulated
from fallow.flower.batteries.together import live_together
from fallow.flower.node.commons import Commons, Seen
from fallow.flower.node.node import Node
from fallow.flower.wire.arrays import Named, flattened, version_of
from fallow.flower.wire.messages import Query
from fallow.flower.wire.records import from_records, model_in
from fallow.models.weights import Weights

GroupProbe = Callable[[Sequence[int], Weights, int, bool], tuple[NDArray[np.float32], NDArray[np.float32] | None]]
"""From clients, weights, an epoch and whether losses are wanted to v_i, shape (n, F), and the losses, shape (n,)."""


class Household:
    """The nodes of an app that stay in this process.

    Args:
        node: Makes the node of a context.
        probe: Makes one forward pass for many clients.
    """

    def __init__(self, node: Callable[[Context], Node], probe: GroupProbe) -> None:
        self._make, self._probe = node, probe
        self._nodes: dict[object, Node] = {}
        self._commons: dict[Path, Commons] = {}
        self._heard: dict[int, tuple[RecordDict, Query, Named | None]] = {}

    def node(self, context: Context) -> Node:
        """Returns the node of a context: the one that stays, or a new one.

        Args:
            context: From Flower.
        """
        return self._nodes.get(_key(context)) or self._make(context)

    def hear(self, content: RecordDict) -> tuple[Query, Named | None]:
        """Returns a query and the model that came with it. Many nodes are sent the very same content.

        Args:
            content: Of the message.
        """
        heard = self._heard.get(id(content))  # it is kept there, so that no other content can have the same id
        return heard[1:] if heard else (from_records(Query, content), model_in(content))

    def foresee(self, heard: Sequence[tuple[Message, Context]]) -> None:
        """Does what the answers to messages have in common.

        What is not as it should be is left to the node that it concerns, which says so in its answer.

        Args:
            heard: What this process answers next, with the contexts of the nodes that it goes to.
        """
        self._heard = {}
        asked: dict[int, tuple[RecordDict, list[Node]]] = {}
        for message, context in heard:
            if message.metadata.message_type == MessageType.QUERY:
                content = message.content
                asked.setdefault(id(content), (content, []))[1].extend(self._staying(context))
        for content, nodes in asked.values():
            if len(nodes) > 1:
                try:
                    self._prepare(content, nodes)
                except FallowError:  # each node meets it again, and answers with it
                    continue

    def _staying(self, context: Context) -> list[Node]:
        """Returns the node of a context as a list; an empty one if it can't stay."""
        key = _key(context)
        if key not in self._nodes:
            try:
                node = self._make(context)
            except FallowError:  # raised again when the message is delivered
                return []
            if not isinstance(node.battery, Emulated):  # by the clock, nothing can be kept at hand
                return []
            node.stay(self._shared)
            self._nodes[key] = node
        return [self._nodes[key]]

    def _shared(self, directory: Path) -> Commons:
        if directory not in self._commons:
            self._commons = {directory: Commons(directory)}  # nodes live in one federation at a time
        return self._commons[directory]

    def _prepare(self, content: RecordDict, nodes: Sequence[Node]) -> None:
        query, model = from_records(Query, content), model_in(content)
        self._heard[id(content)] = (content, query, model)
        batteries = []
        for node in nodes:
            opened = node.shelf(query.federation).open(node.battery, probes=query.probes, ideal=query.ideal)
            if opened.memory.order is None and isinstance(opened.battery, OpenEmulated):
                batteries.append(opened.battery)
        live_together(batteries, query.epoch)
        if (
            model is not None
            and version_of(model) == query.version
            and (query.distance == "features" or "probe_loss" in query.asks)
        ):
            self._look_at(model, query, nodes)

    def _look_at(self, model: Named, query: Query, nodes: Sequence[Node]) -> None:
        """Makes the forward pass of a new model for all nodes that keep no statistics of their own."""
        nodes = sorted((node for node in nodes if not node.task.keep_local), key=lambda node: node.task.number)
        shelves = [node.shelf(query.federation) for node in nodes]
        names = [shelf.directory.name for shelf in shelves]
        known = all(query.version == shelf.sight().version or shelf.seen(query.version) for shelf in shelves)
        if known or len(set(names)) < len(names):  # two that claim one name are left to themselves
            return
        weights = flattened(model, nodes[0].task.facts(0).layout)
        losses = "probe_loss" in query.asks
        features, found = self._probe([node.task.number for node in nodes], weights, query.epoch, losses)
        each = [float("nan")] * len(nodes) if found is None else found.tolist()
        seen = [Seen(*pair) for pair in zip(features, each, strict=True)]
        self._shared(shelves[0].directory.parent).put_seen(query.version, names, seen)


def _key(context: Context) -> object:
    return context.node_id, context.run_id, tuple(sorted(context.node_config.items()))
