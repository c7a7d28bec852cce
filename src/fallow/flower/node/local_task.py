"""The task of a node with a network and data of its own. PyTorch is loaded here."""

from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.errors import NodeError
from fallow.flower.node.client import LocalData
from fallow.flower.node.client_task import ClientTask
from fallow.learning.network import Network
from fallow.learning.options import SGD
from fallow.learning.samples import samples_from_arrays
from fallow.learning.workers import Workers
from fallow.memory import reuse_freed
from fallow.models import check_repeatable
from fallow.objectives import Objective
from fallow.rng import Purpose, stream


def local_task(
    identity: str,
    local: LocalData,
    module: Any,
    *,
    sgd: SGD,
    steps: int,
    feature: str,
    keep_local: bool,
    seed: int,
    objective: Objective,
) -> ClientTask:
    """Returns what a node learns from its own samples. Its draws depend on the seed and on its name.

    Args:
        identity: The node's own name.
        local: Its samples.
        module: The network, an ``nn.Module``.
        sgd: How a step is made.
        steps: κ: the batches of one training.
        feature: What the probe compares (reading 10).
        keep_local: Whether the node trains and probes with its own running statistics.
        seed: Of the order of samples and the masks of dropout.
        objective: What it minimises.

    Raises:
        NodeError: The node has no samples.
        ConfigError: The network can't be used.
    """
    if not len(local.y):
        raise NodeError(f"The node '{identity}' has no samples, and it needs at least one; give it some, or stop it.")
    number = int.from_bytes(sha256(identity.encode()).digest()[:7], "little")
    shard = np.arange(len(local.y))
    size = -(-len(shard) // steps)

    def probe_batch(epoch: int) -> NDArray[np.int64]:
        return stream(seed, Purpose.PROBE, epoch, number).permutation(len(shard))[:size]

    reuse_freed()
    shape = tuple(local.x.shape[1:])
    network = Network(module, shape, local.classes, feature)
    check_repeatable(network.module, shape)
    return ClientTask(
        number=number,
        seed=seed,
        workers=Workers(network, 1),
        samples=samples_from_arrays(local.x, local.y, local.mean, local.std),
        shard=shard,
        steps=steps,
        sgd=sgd,
        probe_batch=probe_batch,
        objective=objective,
        keep_local=keep_local,
    )
