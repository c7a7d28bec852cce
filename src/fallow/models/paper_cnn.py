"""The paper's network (reading 14)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from fallow.models.base import Shape
from fallow.models.layers import image_shape, scaled, two_parts

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class PaperCNN:
    """Six convolutions, three max pools, three fully connected layers (reading 14).

    Attributes:
        width: The factor on every number of channels and hidden units.

    Examples:
        >>> sum(p.numel() for p in PaperCNN(width=0.25).build((3, 32, 32), classes=10).parameters())
        53426
    """

    width: Annotated[float, Field(gt=0, description="factor on every number of channels and hidden units")] = 1.0

    def build(self, input_shape: Shape, classes: int) -> "nn.Module":
        """Returns the network. Images need at least 8×8 pixels, because three pools halve them.

        Args:
            input_shape: The shape of one input, (channels, height, width).
            classes: How many classes there are.

        Raises:
            ConfigError: The inputs are no images, or too small.
        """
        channels, height, width = image_shape("paper-cnn", input_shape, least=8)
        from torch import nn

        layers: list[nn.Module] = []
        for block in (32, 64, 128):
            out = scaled(block, self.width)
            layers += [nn.Conv2d(channels, out, 3, padding=1), nn.ReLU()]
            layers += [nn.Conv2d(out, out, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
            channels = out
        flat = channels * (height // 8) * (width // 8)
        return two_parts(layers, [flat, scaled(256, self.width), scaled(128, self.width), classes])
