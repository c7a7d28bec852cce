"""What a model is: a recipe for networks.

PyTorch is imported only when a network is built, because reading an experiment should not have to wait for it.
"""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from torch import nn
    from torch.nn import Module as Module

Shape = tuple[int, ...]
"""The shape of one input, without a batch."""

OUTPUT_FEATURES = ("softmax", "logits")
"""The features that come from the network's output; every other name is the path of a layer."""


class Model(Protocol):
    """A recipe for networks. A frozen dataclass whose fields are its options."""

    def build(self, input_shape: Shape, classes: int) -> "nn.Module":
        """Returns a network from inputs, (batch, *input_shape), float32, to logits, (batch, classes), float32.

        Args:
            input_shape: The shape of one input, without a batch.
            classes: How many classes there are.
        """
        ...
