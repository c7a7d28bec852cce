"""What a model asks of a device: the bytes of an update, and the floating-point operations of a sample."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fallow.data import loaded
from fallow.data.sizes import samples_per_client
from fallow.models.base import Model
from fallow.plugins.calls import blamed

BYTES_A_NUMBER = 4
"""Weights are sent as float32."""

PASSES = 3
"""A training's pass over a sample in forward passes: one forward, and a backward of twice its operations."""


@dataclass(frozen=True)
class ModelCosts:
    """What a model asks of a device.

    Attributes:
        update_bytes: Of an update: 4 bytes a parameter, and a running statistic where there are any.
        forward_flops: Floating-point operations of the forward pass of one sample; a multiply-add is two.
        samples: Samples of a client on average, which one training passes over once.
    """

    update_bytes: int
    forward_flops: int
    samples: int


class MeasuredModel:
    """The costs of an experiment's model, for whoever asks; PyTorch and the dataset are loaded by the first.

    Args:
        model: The recipe of the network.
        data: Has ``load(seed)``, which returns the dataset.
        seed: Of the run.
        clients: N.
        wanted: The setting `data.samples_per_client`.
    """

    def __init__(self, model: Model, data: Any, *, seed: int, clients: int, wanted: int) -> None:
        self._ask: Callable[[], ModelCosts] = lambda: _measure(model, data, seed, clients, wanted)
        self._key = f"{model!r} {data!r} {clients} {wanted}"

    def costs(self) -> ModelCosts:
        """Returns the costs; builds the model once in a process."""
        if self._key not in _known:
            _known[self._key] = self._ask()
        return _known[self._key]


_known: dict[str, ModelCosts] = {}
"""Costs by the model and the data; they do not depend on the seed."""


def _measure(model: Model, data: Any, seed: int, clients: int, wanted: int) -> ModelCosts:
    from fallow.learning.network import build_network  # loads PyTorch, which takes seconds
    from fallow.learning.operations import forward_flops

    dataset = loaded(data, seed)
    with blamed(f"The model '{type(model).__name__}'", "building the network"):
        network = build_network(model, dataset.x.shape[1:], dataset.classes, seed)
    return ModelCosts(
        update_bytes=BYTES_A_NUMBER * network.size,
        forward_flops=forward_flops(network),
        samples=samples_per_client(wanted, len(dataset.y), clients),
    )
