"""The labelled samples that networks learn from, normalised batch by batch."""

import warnings
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Samples:
    """Images, signals or vectors with their labels, stored unchanged; a batch is normalised when it is read.

    Attributes:
        images: The inputs, of any of the three kinds, shape (S, C, …), uint8 or float32. Never written to.
        labels: Shape (S,), int64.
        scale: The factor on the values of each channel, shape (C, 1, …), float32.
        offset: What is then subtracted from each channel, shape (C, 1, …), float32.
    """

    images: Tensor
    labels: Tensor
    scale: Tensor
    offset: Tensor

    def __len__(self) -> int:
        """Returns S, the number of samples."""
        return len(self.labels)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of one input, without a batch."""
        return tuple(self.images.shape[1:])

    def batch(self, indices: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Returns normalised inputs and their labels.

        Args:
            indices: The samples, any shape, int64.

        Returns:
            Inputs, shape (*indices.shape, C, …), float32, and labels, shape indices.shape, int64.
        """
        flat = torch.from_numpy(np.ascontiguousarray(indices.reshape(-1))).to(self.images.device)
        images = self.images.index_select(0, flat).to(torch.float32) * self.scale - self.offset
        labels = self.labels.index_select(0, flat)
        return images.view(*indices.shape, *self.input_shape), labels.view(indices.shape)


def samples_from_arrays(
    images: NDArray[np.uint8] | NDArray[np.float32],
    labels: NDArray[np.int64],
    mean: tuple[float, ...],
    std: tuple[float, ...],
    device: str = "cpu",
) -> Samples:
    """Returns samples that share the memory of the given arrays, also of memory-mapped files.

    Args:
        images: Shape (S, C, …), uint8 or float32.
        labels: Shape (S,), int64.
        mean: The mean of each channel, of images/255 where they are uint8.
        std: The standard deviation of each channel, in the same unit.
        device: Where networks run: "cpu" or "cuda".
    """
    unit = 255.0 if images.dtype == np.uint8 else 1.0
    per_channel = (-1, *[1] * (images.ndim - 2))
    scale = (1 / (unit * np.asarray(std))).astype(np.float32)
    offset = (np.asarray(mean) / np.asarray(std)).astype(np.float32)
    with warnings.catch_warnings():
        # PyTorch warns of arrays that can't be written to, such as mapped files; nothing here writes to them.
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return Samples(
            torch.from_numpy(images).to(device),
            torch.from_numpy(labels).to(device),
            torch.tensor(scale, device=device).view(per_channel),
            torch.tensor(offset, device=device).view(per_channel),
        )
