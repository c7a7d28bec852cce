"""The network that suits the data."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fallow.models.base import Shape
from fallow.models.paper_cnn import PaperCNN
from fallow.models.small_cnn import SmallCNN

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class Auto:
    """The paper's network for images of at least 16×16 pixels, the small one below."""

    def build(self, input_shape: Shape, classes: int) -> "nn.Module":
        """Returns the network that suits the size of the images.

        Args:
            input_shape: The shape of one input, (channels, height, width).
            classes: How many classes there are.

        Raises:
            ConfigError: The inputs are no images, or too small.
        """
        model = PaperCNN() if min(input_shape[1:], default=0) >= 16 else SmallCNN()
        return model.build(input_shape, classes)
