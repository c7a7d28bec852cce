"""Memory that the stacks of a thread share, whatever their shapes.

New memory for each result would be handed out page by page by the system, which takes longer than the arithmetic of a
small network. Only one stack computes at a time, so all of them use the same memory, which is as large as the largest
needs it.
"""

import math

import torch
from torch import Tensor


class Buffers:
    """Buffers for one stack after the other: the first that a stack asks for lies where those of the others lie.

    Attributes:
        nothing: An empty tensor of the same kind.
        grown: How often a buffer was replaced by a larger one. Stacks made before then hold the old one.
    """

    def __init__(self, dtype: torch.dtype, device: torch.device) -> None:
        self.nothing = torch.empty(0, dtype=dtype, device=device)
        self.grown = 0
        self._kept: list[Tensor] = []
        self._asked = 0

    def begin(self) -> None:
        """Begins with a new stack."""
        self._asked = 0

    def new(self, *shape: int, dtype: torch.dtype | None = None) -> Tensor:
        """Returns a buffer, whose content has no meaning.

        Args:
            shape: Its shape.
            dtype: The type of its numbers; None is that of all others.
        """
        size, place = math.prod(shape), self._asked
        self._asked += 1
        if place == len(self._kept):
            self._kept.append(self.nothing.new_empty(size, dtype=dtype))
        elif len(self._kept[place]) < size:
            self._kept[place] = self.nothing  # frees the memory before there is more of it, if no stack holds it
            self._kept[place] = self.nothing.new_empty(size, dtype=dtype)
            self.grown += 1
        return self._kept[place][:size].view(shape)

    def images(self, batch: int, clients: int, shape: tuple[int, ...], dtype: torch.dtype | None = None) -> Tensor:
        """Returns a buffer for images or kernels, shape (batch, C·channels, height, width), channels last.

        It is the memory format in which convolutions and pools run fastest.

        Args:
            batch: How many images.
            clients: C.
            shape: The shape of one image of one client, (channels, height, width).
            dtype: The type of its numbers; None is that of all others.
        """
        flat = (batch, clients * shape[0], *shape[1:])
        strides = torch.empty(flat, device="meta").contiguous(memory_format=torch.channels_last).stride()
        return self.new(*flat, dtype=dtype).as_strided(flat, strides)
