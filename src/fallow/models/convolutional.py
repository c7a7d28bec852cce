"""What the convolutional networks share: the shape of an image, and the two parts of a network."""

from itertools import pairwise
from typing import TYPE_CHECKING

from fallow.errors import ConfigError
from fallow.models.base import Shape

if TYPE_CHECKING:
    from torch import nn


def two_parts(features: "list[nn.Module]", sizes: list[int]) -> "nn.Module":
    """Returns a network of convolutions, "features", and a perceptron, "classifier"; feature paths use these names.

    Args:
        features: The layers of the first part.
        sizes: The units of the perceptron's layers: inputs, hidden layers, classes.
    """
    from torch import nn

    classifier: list[nn.Module] = [nn.Flatten()]
    for units_in, units_out in pairwise(sizes):
        classifier += [nn.Linear(units_in, units_out), nn.ReLU()]
    module = nn.Sequential()
    module.add_module("features", nn.Sequential(*features))
    module.add_module("classifier", nn.Sequential(*classifier[:-1]))
    return module


def image_shape(name: str, input_shape: Shape, least: int) -> tuple[int, int, int]:
    """Returns the channels, height and width of images.

    Args:
        name: The name of the model, for the error sentence.
        input_shape: The shape of one input, without a batch.
        least: The smallest height and width that the model accepts.

    Raises:
        ConfigError: The inputs are no images, or too small.
    """
    if len(input_shape) != 3 or min(input_shape[1:]) < least:
        raise ConfigError(
            f"The model '{name}' takes images of shape (channels, height, width), at least {least}×{least} pixels; "
            f"the data has inputs of shape {input_shape}."
        )
    channels, height, width = input_shape
    return channels, height, width
