"""A residual block. It imports PyTorch, so only what builds a network imports it."""

from torch import Tensor, nn


class BasicBlock(nn.Module):
    """Two convolutions with group normalisation, and a way around them (He et al., CVPR 2016, figure 5, left)."""

    def __init__(self, channels: int, out: int, stride: int, groups: int) -> None:
        """Makes the layers.

        Args:
            channels: The channels of the input.
            out: The channels of the output.
            stride: Of the first convolution; 2 halves height and width.
            groups: The groups of channels that are normalised together.
        """
        super().__init__()
        self.inner = nn.Sequential(
            nn.Conv2d(channels, out, 3, stride=stride, padding=1, bias=False),
            nn.GroupNorm(groups, out),
            nn.ReLU(),
            nn.Conv2d(out, out, 3, padding=1, bias=False),
            nn.GroupNorm(groups, out),
        )
        self.around = nn.Sequential()  # the input itself, where its shape is that of the output
        if stride != 1 or channels != out:
            self.around.append(nn.Conv2d(channels, out, 1, stride=stride, bias=False))
            self.around.append(nn.GroupNorm(groups, out))
        self.active = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        """Returns the output, shape (batch, out, height / stride, width / stride), float32.

        Args:
            x: Shape (batch, channels, height, width), float32.
        """
        active: Tensor = self.active(self.inner(x) + self.around(x))
        return active
