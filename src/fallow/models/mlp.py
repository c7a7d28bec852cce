"""A multilayer perceptron, for vectors."""

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from fallow.models.base import Shape
from fallow.models.layers import perceptron

if TYPE_CHECKING:
    from torch import nn

Units = Annotated[int, Field(ge=1)]


@dataclass(frozen=True)
class MLP:
    """Fully connected layers with rectifiers between them. Signals and images are flattened to vectors first.

    Attributes:
        hidden: The units of each hidden layer; none makes a linear classifier.

    Examples:
        >>> MLP(hidden=(8,)).build((4,), classes=3)
        Sequential(
          (classifier): Sequential(
            (0): Flatten(start_dim=1, end_dim=-1)
            (1): Linear(in_features=4, out_features=8, bias=True)
            (2): ReLU()
            (3): Linear(in_features=8, out_features=3, bias=True)
          )
        )
    """

    hidden: Annotated[
        tuple[Units, ...], Field(description="units of each hidden layer; an empty list makes a linear classifier")
    ] = (128, 64)

    def build(self, input_shape: Shape, classes: int) -> "nn.Module":
        """Returns the network.

        Args:
            input_shape: The shape of one input: (numbers,), or any other, which is flattened.
            classes: How many classes there are.
        """
        from torch import nn

        module = nn.Sequential()
        module.add_module("classifier", perceptron([prod(input_shape), *self.hidden, classes]))
        return module
