"""Layers of many clients at once, with explicit backward passes.

Before they are flattened, activations have shape (batch, C·channels, height, width) in the memory format "channels
last": a convolution of C clients is one grouped convolution, a group a client, and a pool sees the channels of all
clients side by side. After that they have shape (C, batch, units), and a product is one batched matrix product.

Results go into buffers that are kept (``stacked_memory``).
"""

import math
from typing import Protocol

import torch
from torch import Tensor, nn

from fallow.learning.stacked_memory import Buffers

Parameters = dict[str, Tensor]


class StackedLayer(Protocol):
    """One layer of C clients. It may overwrite its arguments, and its results are valid until its next call.

    Attributes:
        shape: The shape of one output, without clients and batch.
    """

    shape: tuple[int, ...]

    def forward(self, x: Tensor, parameters: Parameters) -> Tensor:
        """Returns the output of the layer, in the layout of this module.

        Args:
            x: The input, in the same layout.
            parameters: The parameters of the layer, by name, shape (C, *shape of the parameter).
        """
        ...

    def backward(self, dy: Tensor, parameters: Parameters, gradients: Parameters, need_dx: bool) -> Tensor:
        """Writes the gradients of the layer's parameters, and returns that of its input.

        Args:
            dy: The gradient of the output, in the layout of this module.
            parameters: The parameters of the layer, by name, shape (C, *shape of the parameter).
            gradients: Where the gradients of the parameters are written, by name, in the same shapes.
            need_dx: Whether the gradient of the input is needed; if not, the returned tensor has no meaning.
        """
        ...


class Conv:
    """A convolution of C clients, as one grouped convolution."""

    def __init__(self, layer: nn.Conv2d, clients: int, shape: tuple[int, ...], batch: int, memory: Buffers) -> None:
        self.clients = clients
        self.stride = _pair(layer.stride)
        self.padding = [int(layer.padding[0]), int(layer.padding[1])]
        sizes = zip(shape[1:], layer.kernel_size, self.stride, self.padding, strict=True)
        self.shape = (layer.out_channels, *((size + 2 * pad - kernel) // step + 1 for size, kernel, step, pad in sizes))
        self.input = memory.nothing
        self.output = memory.images(batch, clients, self.shape)
        self.weight = memory.images(clients * layer.out_channels, 1, (shape[0], *layer.kernel_size))

    def forward(self, x: Tensor, parameters: Parameters) -> Tensor:
        """See ``StackedLayer``."""
        self.input = x
        self.weight.copy_(parameters["weight"].flatten(0, 1))
        bias = parameters["bias"].flatten() if "bias" in parameters else None
        # Copied, because a convolution can't write into a buffer; what it returned is free again at once.
        return self.output.copy_(torch.conv2d(x, self.weight, bias, self.stride, self.padding, groups=self.clients))

    def backward(self, dy: Tensor, parameters: Parameters, gradients: Parameters, need_dx: bool) -> Tensor:
        """See ``StackedLayer``."""
        dx, weight, _ = torch.ops.aten.convolution_backward(
            dy,
            self.input,
            self.weight,
            None,
            self.stride,
            self.padding,
            [1, 1],
            False,
            [0, 0],
            self.clients,
            [need_dx, True, False],
        )
        gradients["weight"].copy_(weight.view(gradients["weight"].shape))
        if "bias" in parameters:
            torch.sum(dy, (0, 2, 3), out=gradients["bias"].flatten())
        return dx if need_dx else dy


class Linear:
    """A fully connected layer."""

    def __init__(self, layer: nn.Linear, clients: int, shape: tuple[int, ...], batch: int, memory: Buffers) -> None:
        self.shape = (layer.out_features,)
        self.input = memory.nothing
        self.output = memory.new(clients, batch, layer.out_features)
        self.d_input = memory.new(clients, batch, *shape)

    def forward(self, x: Tensor, parameters: Parameters) -> Tensor:
        """See ``StackedLayer``."""
        self.input = x
        torch.bmm(x, parameters["weight"].transpose(1, 2), out=self.output)
        if "bias" in parameters:
            self.output += parameters["bias"][:, None]
        return self.output

    def backward(self, dy: Tensor, parameters: Parameters, gradients: Parameters, need_dx: bool) -> Tensor:
        """See ``StackedLayer``."""
        torch.bmm(dy.transpose(1, 2), self.input, out=gradients["weight"])
        if "bias" in parameters:
            torch.sum(dy, 1, out=gradients["bias"])
        if need_dx:
            torch.bmm(dy, parameters["weight"], out=self.d_input)
        return self.d_input


class ReLU:
    """A rectifier, in place."""

    def __init__(self, layer: nn.ReLU, clients: int, shape: tuple[int, ...], batch: int, memory: Buffers) -> None:
        self.shape = shape
        self.output = memory.nothing

    def forward(self, x: Tensor, parameters: Parameters) -> Tensor:
        """See ``StackedLayer``."""
        self.output = x.relu_()
        return x

    def backward(self, dy: Tensor, parameters: Parameters, gradients: Parameters, need_dx: bool) -> Tensor:
        """See ``StackedLayer``."""
        torch.ops.aten.threshold_backward.grad_input(dy, self.output, 0, grad_input=dy)
        return dy


class MaxPool:
    """A max pool of all clients' channels."""

    def __init__(self, layer: nn.MaxPool2d, clients: int, shape: tuple[int, ...], batch: int, memory: Buffers) -> None:
        window = (layer.kernel_size, layer.stride, layer.padding, layer.dilation)
        self.options = (*(_pair(value) for value in window), layer.ceil_mode)
        small, _ = torch.ops.aten.max_pool2d_with_indices(memory.nothing.new_zeros(1, *shape), *self.options)
        self.shape = tuple(small.shape[1:])
        self.input = memory.nothing
        self.output = memory.images(batch, clients, self.shape)
        self.where = memory.images(batch, clients, self.shape, torch.int64)
        self.d_input = memory.images(batch, clients, shape)

    def forward(self, x: Tensor, parameters: Parameters) -> Tensor:
        """See ``StackedLayer``."""
        self.input = x
        torch.ops.aten.max_pool2d_with_indices.out(x, *self.options, out=self.output, indices=self.where)
        return self.output

    def backward(self, dy: Tensor, parameters: Parameters, gradients: Parameters, need_dx: bool) -> Tensor:
        """See ``StackedLayer``."""
        torch.ops.aten.max_pool2d_with_indices_backward.grad_input(
            dy, self.input, *self.options, self.where, grad_input=self.d_input
        )
        return self.d_input


class Flatten:
    """Images become units, and clients come before the batch."""

    def __init__(self, layer: nn.Flatten, clients: int, shape: tuple[int, ...], batch: int, memory: Buffers) -> None:
        self.images = len(shape) == 3
        self.shape = (math.prod(shape),)
        if self.images:
            self.output = memory.new(clients, batch, *shape)
            self.d_input = memory.images(batch, clients, shape)

    def forward(self, x: Tensor, parameters: Parameters) -> Tensor:
        """See ``StackedLayer``."""
        return self.output.copy_(by_client(x, len(self.output))).flatten(2) if self.images else x

    def backward(self, dy: Tensor, parameters: Parameters, gradients: Parameters, need_dx: bool) -> Tensor:
        """See ``StackedLayer``."""
        if self.images:
            by_client(self.d_input, len(self.output)).copy_(dy.view(self.output.shape))
        return self.d_input if self.images else dy


STACKED: dict[type, type] = {
    nn.Conv2d: Conv,
    nn.Linear: Linear,
    nn.ReLU: ReLU,
    nn.MaxPool2d: MaxPool,
    nn.Flatten: Flatten,
}


def can_stack(layer: nn.Module) -> bool:
    """Returns whether this module supports a layer with its options."""
    if isinstance(layer, nn.Conv2d):
        return (
            layer.groups == 1
            and layer.dilation == (1, 1)
            and layer.padding_mode == "zeros"
            and not isinstance(layer.padding, str)
        )
    if isinstance(layer, nn.Flatten):
        return layer.start_dim == 1 and layer.end_dim == -1
    if isinstance(layer, nn.MaxPool2d):
        return not layer.return_indices
    return type(layer) in STACKED


def _pair(value: int | tuple[int, ...]) -> list[int]:
    return [value, value] if isinstance(value, int) else list(value)


def by_client(x: Tensor, clients: int) -> Tensor:
    """Returns a view of images, shape (batch, C·channels, …), by client, shape (C, batch, channels, …)."""
    return x.view(len(x), clients, -1, *x.shape[2:]).transpose(0, 1)
