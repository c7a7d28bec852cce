"""An experiment of Fallow's on nodes: the same data, harvest and rules, each client on a node of its own.

A node that is only asked builds its battery, and neither its data nor its network: PyTorch is not loaded.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from flwr.app import Context
from flwr.clientapp import ClientApp
from numpy.typing import NDArray

from fallow.errors import NodeError
from fallow.experiment import Experiment
from fallow.flower.batteries import Battery, Emulated, WallClock
from fallow.flower.batteries.harvests import SharedHarvest
from fallow.flower.node.client import PARTITION, app_of, directory_for, identity_of, shares_labels
from fallow.flower.node.household import Household
from fallow.flower.node.node import Node
from fallow.models.weights import Weights
from fallow.policies import AnyPolicy

if TYPE_CHECKING:  # PyTorch comes with it
    from fallow.flower.experiment import _Parts


class _Devices:
    """What all nodes of an experiment share in one process, but for data and network."""

    def __init__(self, toml: str) -> None:
        self.experiment = Experiment.from_toml(toml)
        self.policy: AnyPolicy = self.experiment.build("policy")
        self._batteries: dict[int, Emulated] = {}
        self._harvests: dict[int | None, SharedHarvest] = {}

    def battery(self, number: int) -> Emulated:
        if number not in self._batteries:
            self._batteries[number] = Emulated.of(self.experiment, number, self._harvests)
        return self._batteries[number]


@lru_cache(maxsize=4)
def _devices(toml: str) -> _Devices:
    return _Devices(toml)


def experiment_client(
    experiment: Experiment,
    *,
    slot_seconds: float | None = None,
    directory: Path | None = None,
    share_labels: bool = False,
) -> ClientApp:
    """Returns the ClientApp of an experiment. A node's `partition-id` says which of the clients it is.

    Args:
        experiment: What is run.
        slot_seconds: How long a slot lasts by the clock; None: an epoch passes when the server says so.
        directory: Where memories are kept; the node config's `fallow-dir` goes before it.
        share_labels: Whether nodes tell the mix of their labels to a policy that asks; the node config's `share-labels`
            goes before it.
    """
    toml = experiment.to_toml()

    def parts() -> "_Parts":
        from fallow.flower.experiment import _parts  # with PyTorch

        return _parts(toml)

    def prepare() -> None:
        parts()
        _devices(toml)

    def node(context: Context) -> Node:
        number = _number(context, experiment.clients)
        devices = _devices(toml)
        battery: Battery = devices.battery(number)
        if slot_seconds is not None:
            battery = WallClock(devices.battery(number), slot_seconds)

        return Node(
            identity_of(context),
            lambda: parts().task(number),
            battery,
            directory_for(context, directory),
            devices.policy,
            run=context.run_id,
            share_labels=shares_labels(context, share_labels),
        )

    def probe(
        numbers: Sequence[int], weights: Weights, epoch: int, losses: bool
    ) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
        return parts().probe(numbers, weights, epoch, losses=losses)

    return app_of(node, prepare, Household(node, probe))


def _number(context: Context, clients: int) -> int:
    number = context.node_config.get(PARTITION)
    if not isinstance(number, int) or not 0 <= number < clients:
        raise NodeError(
            f"This node's {PARTITION} is {number}; the experiment has clients 0 to {clients - 1}: start the node with "
            f"--node-config '{PARTITION}=0', or the like."
        )
    return number
