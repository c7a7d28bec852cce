"""The client side: a Flower ClientApp whose node has a battery and a memory.

app = client_app(model=build_model, data=load_data, battery=Metered(PowerSupply("BAT0")))
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from flwr.app import Context, Message
from flwr.clientapp import ClientApp
from numpy.typing import NDArray

from fallow.errors import NodeError
from fallow.flower.batteries import Battery
from fallow.flower.node.household import Household
from fallow.flower.node.node import Node
from fallow.flower.wire.messages import Order, Query
from fallow.flower.wire.records import from_records, model_in, to_records
from fallow.learning.options import SGD
from fallow.objectives import CrossEntropy, Objective
from fallow.policies import AnyPolicy

if TYPE_CHECKING:  # PyTorch comes with it, which a node that is only asked does without
    from fallow.flower.node.client_task import ClientTask

IDENTITY = "identity"
"""The node's own name, in its node config."""

PARTITION = "partition-id"
"""The number that Flower's simulation gives a node; the name where there is no other."""

SHARE_LABELS = "share-labels"
"""Whether a node tells the mix of its labels to a policy that asks, in its node config."""

DIRECTORY = "fallow-dir"
"""Where a node keeps its memory, in its node config. The environment variable FALLOW_NODES says the same."""


@dataclass(frozen=True, eq=False)
class LocalData:
    """The samples of one node.

    Attributes:
        x: Shape (n, C, …), or (n, D) for vectors, uint8 or float32.
        y: Shape (n,), int64, from 0; at least one.
        classes: K, over all nodes.
        mean: The mean of each channel, of x/255 where x is uint8. One number stands for all channels.
        std: The standard deviation of each channel, of x/255 where x is uint8. One number stands for all channels.
    """

    x: NDArray[Any]
    y: NDArray[np.int64]
    classes: int
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)


def client_app(
    model: Callable[[], Any],
    data: Callable[[Context], LocalData],
    battery: Battery | Callable[[Context], Battery],
    *,
    sgd: SGD | None = None,
    steps: int = 20,
    feature: str = "softmax",
    keep_local: bool = False,
    seed: int = 0,
    policy: AnyPolicy | None = None,
    directory: Path | None = None,
    objective: Objective | None = None,
    share_labels: bool = False,
) -> ClientApp:
    """Returns a ClientApp that trains a model on the node's own data, as far as its battery goes.

    Args:
        model: Makes the network, an ``nn.Module`` that returns logits of shape (batch, K). Like `data`, it is called
            only in messages that take a forward pass or a training, and in the first of a run.
        data: Loads the node's samples.
        battery: What the node lives on, or makes it.
        sgd: How a step is made.
        steps: κ: the batches of one training, a pass over the samples.
        feature: What the probe compares (reading 10).
        keep_local: Whether the node trains and probes with its own running statistics of batch normalisation.
        seed: Of the order of samples and the masks of dropout.
        policy: The server's policy, if it decides slot by slot who starts (FedBacys).
        directory: Where memories are kept; the node config's `fallow-dir` goes before it.
        objective: What a node minimises; cross-entropy by default.
        share_labels: Whether nodes tell the shares of the classes in their data to a policy that asks, which breaks the
            privacy that federated learning promises; the node config's `share-labels` goes before it.
    """

    def node(context: Context) -> Node:
        identity = identity_of(context)

        def task() -> "ClientTask":
            from fallow.flower.node.local_task import local_task  # with PyTorch

            return local_task(
                identity,
                data(context),
                model(),
                sgd=sgd or SGD(),
                steps=steps,
                feature=feature,
                keep_local=keep_local,
                seed=seed,
                objective=objective or CrossEntropy(),
            )

        own = battery(context) if callable(battery) else battery
        place, shares = directory_for(context, directory), shares_labels(context, share_labels)
        return Node(identity, task, own, place, policy, run=context.run_id, share_labels=shares)

    return app_of(node, lambda: None)


class NodeApp(ClientApp):
    """A ClientApp that can be made ready before a message comes, and whose nodes may stay in this process.

    Attributes:
        prepare: Loads what messages need and what is the same for all of them.
        household: The nodes that stay; None if none can.
    """

    def __init__(self, prepare: Callable[[], None], household: Household | None = None) -> None:
        super().__init__()
        self.prepare, self.household = prepare, household


def app_of(node: Callable[[Context], Node], prepare: Callable[[], None], household: Household | None = None) -> NodeApp:
    """Returns a ClientApp that passes queries and orders on to nodes.

    Args:
        node: Makes the node of a context.
        prepare: Loads what is the same for all messages, for a process that answers many of them.
        household: The nodes that stay in this process, if they can.
    """
    app = NodeApp(prepare, household)
    find = household.node if household else node

    @app.query()
    def query(message: Message, context: Context) -> Message:
        content = message.content
        said, model = household.hear(content) if household else (from_records(Query, content), model_in(content))
        return Message(to_records(find(context).answer(said, model)), reply_to=message)

    @app.train()
    def train(message: Message, context: Context) -> Message:
        said = from_records(Order, message.content)
        outcome, updates = find(context).obey(said, model_in(message.content))
        return Message(to_records(outcome, None, *updates), reply_to=message)

    return app


def identity_of(context: Context) -> str:
    """Returns the node's own name: `identity` in its node config, or else its partition's number.

    Args:
        context: From Flower.

    Raises:
        NodeError: The node has no name.
    """
    config = context.node_config
    if config.get(IDENTITY):
        return str(config[IDENTITY])
    if PARTITION in config:
        return f"client-{int(config[PARTITION]):06d}"
    raise NodeError(f"This node has no name: start it with --node-config '{IDENTITY}=\"…\"'.")


def shares_labels(context: Context, given: bool) -> bool:
    """Returns whether a node tells the mix of its labels to a policy that asks.

    Args:
        context: From Flower; its node config goes before the argument.
        given: What the app says.

    Raises:
        NodeError: The node config says neither true nor false.
    """
    said = context.node_config.get(SHARE_LABELS, given)
    if not isinstance(said, bool):
        raise NodeError(f"This node's {SHARE_LABELS} is {said!r}; it must be true or false.")
    return said


def directory_for(context: Context, given: Path | None = None) -> Path:
    """Returns where a node keeps its memories.

    The first of these counts: the node config, the argument, the environment, the XDG state home.

    Args:
        context: From Flower.
        given: A directory; None if the caller names none.
    """
    if context.node_config.get(DIRECTORY):
        return Path(str(context.node_config[DIRECTORY]))
    if given is not None:
        return given
    if os.environ.get("FALLOW_NODES"):
        return Path(os.environ["FALLOW_NODES"])
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "fallow" / "nodes"
