"""What a model is: a recipe for networks.

PyTorch is imported when a network is built, not before: to read an experiment nobody should have to wait for it.
"""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from torch import nn
    from torch.nn import Module as Module

Shape = tuple[int, ...]

OUTPUT_FEATURES = ("softmax", "logits")
"""The features that are taken from the network's output; every other name is the path of a layer."""


class Model(Protocol):
    """A recipe for networks. A frozen dataclass whose fields are its options."""

    def build(self, input_shape: Shape, classes: int) -> "nn.Module":
        """Returns a network from (batch, *input_shape), float32, to logits, (batch, classes)."""
        ...
