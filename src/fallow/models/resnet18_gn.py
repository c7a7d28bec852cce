"""ResNet-18 for small images, with group normalisation."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from fallow.errors import ConfigError
from fallow.models.base import Shape
from fallow.models.layers import image_shape, scaled

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class ResNet18GN:
    """ResNet-18 with group normalisation, whose first layers keep the size of images of 32×32 pixels.

    He et al., Deep residual learning for image recognition (CVPR 2016), with the first convolution of their networks
    for CIFAR-10 (3×3, stride 1, no pool). Two groups in each layer, as Reddi et al., Adaptive federated optimization
    (ICLR 2021) train it: group normalisation keeps no statistics, which clients with other data would not share.

    Attributes:
        width: The factor on every number of channels.
        groups: The groups of channels that are normalised together; every number of channels is a multiple of it.

    Examples:
        >>> sum(p.numel() for p in ResNet18GN(width=0.125).build((3, 32, 32), classes=10).parameters())
        176402
    """

    width: Annotated[float, Field(gt=0, description="factor on every number of channels")] = 1.0
    groups: Annotated[int, Field(ge=1, description="groups of channels that are normalised together")] = 2

    def build(self, input_shape: Shape, classes: int) -> "nn.Module":
        """Returns the network. Images need at least 8×8 pixels, because three stages halve them.

        Args:
            input_shape: The shape of one input, (channels, height, width).
            classes: How many classes there are.

        Raises:
            ConfigError: The inputs are no images, or too small, or a group has one value in the last stage.
        """
        channels, height, width = image_shape("resnet18-gn", input_shape, least=8)
        if scaled(512, self.width, self.groups) // self.groups * -(-height // 8) * -(-width // 8) == 1:
            raise ConfigError(
                f"model.width = {self.width:g} leaves one value in each of the {self.groups} groups of the last stage, "
                f"for images of {height}×{width}, and one value normalised is always 0; use a larger width."
            )
        from torch import nn

        from fallow.models.residual import BasicBlock

        out = scaled(64, self.width, self.groups)
        features: list[nn.Module] = [
            nn.Conv2d(channels, out, 3, padding=1, bias=False),
            nn.GroupNorm(self.groups, out),
            nn.ReLU(),
        ]
        for units, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
            channels, out = out, scaled(units, self.width, self.groups)
            features += [BasicBlock(channels, out, stride, self.groups), BasicBlock(out, out, 1, self.groups)]
        features.append(nn.AdaptiveAvgPool2d(1))
        module = nn.Sequential()
        module.add_module("features", nn.Sequential(*features))
        module.add_module("classifier", nn.Sequential(nn.Flatten(), nn.Linear(out, classes)))
        return module
