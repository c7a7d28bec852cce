"""The labelled images that networks are fed, normalised batch by batch."""

import warnings
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Samples:
    """Images and labels, kept as they came; a batch is normalised when it is taken.

    Attributes:
        images: Shape (S, C, …), uint8 or float32. Never written to.
        labels: Shape (S,), int64.
        scale: What pixels are multiplied by, one number a channel, shape (C, 1, …), float32.
        offset: What is then taken off, likewise.
    """

    images: Tensor
    labels: Tensor
    scale: Tensor
    offset: Tensor

    def __len__(self) -> int:
        """S, the number of samples."""
        return len(self.labels)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of one image, without a batch."""
        return tuple(self.images.shape[1:])

    def batch(self, indices: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Returns the images, shape (*indices.shape, C, …), float32, and labels, (*indices.shape,), int64."""
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
    """Returns the samples over the given arrays, without a copy where they are in memory or mapped into it.

    Args:
        images: Shape (S, C, …).
        labels: Shape (S,).
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
