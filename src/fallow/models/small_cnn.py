"""A small network, for small images."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fallow.models.base import Shape
from fallow.models.layers import image_shape, two_parts

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class SmallCNN:
    """Two convolutions, a max pool and one hidden layer: enough for digits of 8×8 pixels."""

    def build(self, input_shape: Shape, classes: int) -> "nn.Module":
        """Returns the network. Images need at least 6×6 pixels, because the convolutions have no padding.

        Args:
            input_shape: The shape of one input, (channels, height, width).
            classes: How many classes there are.

        Raises:
            ConfigError: The inputs are no images, or too small.
        """
        channels, height, width = image_shape("small-cnn", input_shape, least=6)
        from torch import nn

        layers = [nn.Conv2d(channels, 8, 3), nn.ReLU(), nn.Conv2d(8, 16, 3), nn.ReLU(), nn.MaxPool2d(2)]
        return two_parts(layers, [16 * ((height - 4) // 2) * ((width - 4) // 2), 32, classes])
