"""What the networks share: the shapes that they take, their widths, and the two parts of a network."""

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

    module = nn.Sequential()
    module.add_module("features", nn.Sequential(*features))
    module.add_module("classifier", perceptron(sizes))
    return module


def perceptron(sizes: list[int]) -> "nn.Module":
    """Returns fully connected layers after a flattening, with a rectifier after each but the last.

    Args:
        sizes: The units of its layers: inputs, hidden layers, classes.
    """
    from torch import nn

    layers: list[nn.Module] = [nn.Flatten()]
    for units_in, units_out in pairwise(sizes):
        layers += [nn.Linear(units_in, units_out), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def scaled(units: int, width: float, multiple: int = 1) -> int:
    """Returns a number of channels or units times a width, rounded to a multiple, which is also the least.

    Args:
        units: The number at width 1.
        width: The factor.
        multiple: What the result is a multiple of.

    Examples:
        >>> scaled(64, 0.25), scaled(64, 0.001), scaled(64, 0.1, multiple=4)
        (16, 1, 8)
    """
    return max(multiple, round(units * width / multiple) * multiple)


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


def signal_shape(name: str, input_shape: Shape, least: int) -> tuple[int, int]:
    """Returns the channels and the length of signals.

    Args:
        name: The name of the model, for the error sentence.
        input_shape: The shape of one input, without a batch.
        least: The smallest length that the model accepts.

    Raises:
        ConfigError: The inputs are no signals, or too short.
    """
    if len(input_shape) != 2 or input_shape[1] < least:
        raise ConfigError(
            f"The model '{name}' takes signals of shape (channels, length), at least {least} long; the data has inputs "
            f"of shape {input_shape}."
        )
    channels, length = input_shape
    return channels, length
