"""The network that suits the data."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fallow.models.base import Model, Shape
from fallow.models.mlp import MLP
from fallow.models.paper_cnn import PaperCNN
from fallow.models.signal_cnn import SignalCNN
from fallow.models.small_cnn import SmallCNN

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class Auto:
    """mlp for vectors, signal-cnn for signals, paper-cnn for images of at least 16×16 pixels, small-cnn below.

    Examples:
        >>> Auto().choose((9, 128)), Auto().choose((3, 32, 32))
        (SignalCNN(width=1.0, kernel=5), PaperCNN(width=1.0))
    """

    def choose(self, input_shape: Shape) -> Model:
        """Returns the model that suits the shape of one input.

        Args:
            input_shape: (numbers,), (channels, length) or (channels, height, width).
        """
        if len(input_shape) == 1:
            return MLP()
        if len(input_shape) == 2:
            return SignalCNN()
        return PaperCNN() if min(input_shape[1:], default=0) >= 16 else SmallCNN()

    def build(self, input_shape: Shape, classes: int) -> "nn.Module":
        """Returns the network that suits the inputs.

        Args:
            input_shape: The shape of one input: (numbers,), (channels, length) or (channels, height, width).
            classes: How many classes there are.

        Raises:
            ConfigError: The inputs are of another shape, or too small.
        """
        return self.choose(input_shape).build(input_shape, classes)
