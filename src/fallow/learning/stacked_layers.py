"""Layers of many clients at once, with explicit backward passes.

Activations have shape (C, channels, height, width, batch), or (C, units, batch): the batch comes last, so that the
patches of a convolution are long runs of memory, weights are read in the order in which they are stored, and
flattening is free. Every multiplication is one batched matrix product over the C clients, into buffers that are kept.
"""

import math
from typing import Protocol

import torch
from torch import Tensor, nn

Parameters = dict[str, Tensor]


class StackedLayer(Protocol):
    """One layer of C clients. It may overwrite its arguments, and its results are valid until its next call.

    Attributes:
        shape: The shape of one output, without clients and batch.
    """

    shape: tuple[int, ...]

    def forward(self, x: Tensor, parameters: Parameters) -> Tensor:
        """Returns the output of the layer, shape (C, *shape, batch).

        Args:
            x: The input, shape (C, *input shape, batch).
            parameters: The parameters of the layer, by name, shape (C, *shape of the parameter).
        """
        ...

    def backward(self, dy: Tensor, parameters: Parameters, gradients: Parameters, need_dx: bool) -> Tensor:
        """Writes the gradients of the layer's parameters, and returns that of its input.

        Args:
            dy: The gradient of the output, shape (C, *shape, batch).
            parameters: The parameters of the layer, by name, shape (C, *shape of the parameter).
            gradients: Where the gradients of the parameters are written, by name, in the same shapes.
            need_dx: Whether the gradient of the input is needed; if not, the returned tensor has no meaning.
        """
        ...


class Conv:
    """A convolution: patches copied into columns, then one batched product."""

    def __init__(self, layer: nn.Conv2d, clients: int, shape: tuple[int, ...], batch: int, like: Tensor) -> None:
        channels, height, width = shape
        (self.kernel_y, self.kernel_x), (self.stride_y, self.stride_x) = layer.kernel_size, layer.stride
        pad_y, pad_x = int(layer.padding[0]), int(layer.padding[1])
        padded = (clients, channels, height + 2 * pad_y, width + 2 * pad_x, batch)
        rows = (padded[2] - self.kernel_y) // self.stride_y + 1
        columns = (padded[3] - self.kernel_x) // self.stride_x + 1
        self.shape = (layer.out_channels, rows, columns)
        self.padded = like.new_zeros(padded) if pad_y or pad_x else None
        self.inside = (..., slice(pad_y, pad_y + height), slice(pad_x, pad_x + width), slice(None))
        patches = (clients, channels, self.kernel_y, self.kernel_x, rows, columns, batch)
        self.columns = like.new_empty(patches)
        self.flat = (clients, channels * self.kernel_y * self.kernel_x, rows * columns * batch)
        self.output = like.new_empty(clients, layer.out_channels, rows * columns * batch)
        self.padded_shape = padded
        self.d_padded = self.d_columns = like  # made when they are needed: a first layer needs none
        self.windows: list[tuple[Tensor, Tensor]] = []

    def forward(self, x: Tensor, parameters: Parameters) -> Tensor:
        """See ``StackedLayer``."""
        if self.padded is not None:
            self.padded[self.inside] = x
            x = self.padded
        s = x.stride()
        strides = (s[0], s[1], s[2], s[3], s[2] * self.stride_y, s[3] * self.stride_x, s[4])
        self.columns.copy_(x.as_strided(self.columns.shape, strides))
        weight = parameters["weight"].flatten(2)
        torch.bmm(weight, self.columns.view(self.flat), out=self.output)
        if "bias" in parameters:
            self.output += parameters["bias"][:, :, None]
        return self.output.view(len(x), *self.shape, x.shape[-1])

    def backward(self, dy: Tensor, parameters: Parameters, gradients: Parameters, need_dx: bool) -> Tensor:
        """See ``StackedLayer``."""
        dy = dy.reshape(self.output.shape)
        torch.bmm(dy, self.columns.view(self.flat).transpose(1, 2), out=gradients["weight"].flatten(2))
        if "bias" in parameters:
            torch.sum(dy, 2, out=gradients["bias"])
        if not need_dx:
            return dy
        if not self.windows:
            self._prepare_input_gradient()
        torch.bmm(parameters["weight"].flatten(2).transpose(1, 2), dy, out=self.d_columns.view(self.flat))
        self.d_padded.zero_()
        for window, part in self.windows:
            window += part
        return self.d_padded[self.inside]

    def _prepare_input_gradient(self) -> None:
        """Makes its buffers, and pairs each place in the kernel with the window of the input that it reads."""
        self.d_columns, self.d_padded = torch.empty_like(self.columns), self.columns.new_empty(self.padded_shape)
        rows, columns = self.shape[1] * self.stride_y, self.shape[2] * self.stride_x
        for y in range(self.kernel_y):
            for x in range(self.kernel_x):
                window = self.d_padded[:, :, y : y + rows : self.stride_y, x : x + columns : self.stride_x]
                self.windows.append((window, self.d_columns[:, :, y, x]))


class Linear:
    """A fully connected layer. Inside it the batch comes before the units, because these products are faster."""

    def __init__(self, layer: nn.Linear, clients: int, shape: tuple[int, ...], batch: int, like: Tensor) -> None:
        self.shape = (layer.out_features,)
        self.input = like
        self.output = like.new_empty(clients, batch, layer.out_features)
        self.d_input = like.new_empty(clients, batch, *shape)

    def forward(self, x: Tensor, parameters: Parameters) -> Tensor:
        """See ``StackedLayer``."""
        self.input = x.transpose(1, 2)
        torch.bmm(self.input, parameters["weight"].transpose(1, 2), out=self.output)
        if "bias" in parameters:
            self.output += parameters["bias"][:, None]
        return self.output.transpose(1, 2)

    def backward(self, dy: Tensor, parameters: Parameters, gradients: Parameters, need_dx: bool) -> Tensor:
        """See ``StackedLayer``."""
        torch.bmm(dy, self.input, out=gradients["weight"])
        if "bias" in parameters:
            torch.sum(dy, 2, out=gradients["bias"])
        if need_dx:
            torch.bmm(dy.transpose(1, 2), parameters["weight"], out=self.d_input)
        return self.d_input.transpose(1, 2)


class ReLU:
    """A rectifier, in place."""

    def __init__(self, layer: nn.ReLU, clients: int, shape: tuple[int, ...], batch: int, like: Tensor) -> None:
        self.shape = shape
        self.output = like

    def forward(self, x: Tensor, parameters: Parameters) -> Tensor:
        """See ``StackedLayer``."""
        self.output = x.relu_()
        return x

    def backward(self, dy: Tensor, parameters: Parameters, gradients: Parameters, need_dx: bool) -> Tensor:
        """See ``StackedLayer``."""
        torch.ops.aten.threshold_backward.grad_input(dy, self.output, 0, grad_input=dy)
        return dy


class MaxPool:
    """A max pool, by that of PyTorch, with the clients' channels as its images and the batch as its channels."""

    def __init__(self, layer: nn.MaxPool2d, clients: int, shape: tuple[int, ...], batch: int, like: Tensor) -> None:
        window = (layer.kernel_size, layer.stride, layer.padding, layer.dilation)
        self.options = (*(_pair(value) for value in window), layer.ceil_mode)
        small, _ = torch.ops.aten.max_pool2d_with_indices(like.new_zeros(1, *shape), *self.options)
        self.shape = tuple(small.shape[1:])
        self.input = like
        self.output = like.new_empty(clients, *self.shape, batch)
        self.where = torch.empty_like(self.output, dtype=torch.int64)
        self.d_input = like.new_empty(clients, *shape, batch)

    def forward(self, x: Tensor, parameters: Parameters) -> Tensor:
        """See ``StackedLayer``."""
        self.input = x
        torch.ops.aten.max_pool2d_with_indices.out(
            _as_images(x), *self.options, out=_as_images(self.output), indices=_as_images(self.where)
        )
        return self.output

    def backward(self, dy: Tensor, parameters: Parameters, gradients: Parameters, need_dx: bool) -> Tensor:
        """See ``StackedLayer``."""
        images = (_as_images(dy), _as_images(self.input))
        torch.ops.aten.max_pool2d_with_indices_backward.grad_input(
            *images, *self.options, _as_images(self.where), grad_input=_as_images(self.d_input)
        )
        return self.d_input


class Flatten:
    """Channels, rows and columns become units; only the shape changes."""

    def __init__(self, layer: nn.Flatten, clients: int, shape: tuple[int, ...], batch: int, like: Tensor) -> None:
        self.input_shape = (clients, *shape, batch)
        self.shape = (math.prod(shape),)

    def forward(self, x: Tensor, parameters: Parameters) -> Tensor:
        """See ``StackedLayer``."""
        return x.reshape(len(x), *self.shape, x.shape[-1])

    def backward(self, dy: Tensor, parameters: Parameters, gradients: Parameters, need_dx: bool) -> Tensor:
        """See ``StackedLayer``."""
        return dy.reshape(self.input_shape)


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


def _as_images(x: Tensor) -> Tensor:
    """Returns the view (C·channels, batch, height, width) of (C, channels, height, width, batch)."""
    return x.flatten(0, 1).permute(0, 3, 1, 2)
