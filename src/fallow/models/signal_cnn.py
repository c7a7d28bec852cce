"""A convolutional network for signals over time: what a sensor measures."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from fallow.errors import ConfigError
from fallow.models.base import Shape
from fallow.models.layers import scaled, signal_shape, two_parts

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class SignalCNN:
    """Three convolutions over time, each with a max pool, and one hidden layer.

    Attributes:
        width: The factor on every number of channels and hidden units.
        kernel: How many points in time a convolution covers; odd, so that its output is as long as its input.

    Examples:
        >>> sum(p.numel() for p in SignalCNN(width=0.5).build((6, 64), classes=5).parameters())
        11885
    """

    width: Annotated[float, Field(gt=0, description="factor on every number of channels and hidden units")] = 1.0
    kernel: Annotated[int, Field(ge=1, description="points in time that a convolution covers; odd")] = 5

    def __post_init__(self) -> None:
        """Raises ConfigError for an even kernel."""
        if self.kernel % 2 == 0:
            raise ConfigError(
                f"model.kernel = {self.kernel} is even; an odd one keeps the length of a signal, as 5 does."
            )

    def build(self, input_shape: Shape, classes: int) -> "nn.Module":
        """Returns the network. Signals need at least 8 points in time, because three pools halve them.

        Args:
            input_shape: The shape of one input, (channels, length).
            classes: How many classes there are.

        Raises:
            ConfigError: The inputs are no signals, or too short.
        """
        channels, length = signal_shape("signal-cnn", input_shape, least=8)
        from torch import nn

        layers: list[nn.Module] = []
        for block in (16, 32, 64):
            out = scaled(block, self.width)
            layers += [nn.Conv1d(channels, out, self.kernel, padding=self.kernel // 2), nn.ReLU(), nn.MaxPool1d(2)]
            channels = out
        return two_parts(layers, [channels * (length // 8), scaled(64, self.width), classes])
