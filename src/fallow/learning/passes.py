"""What one step of many clients gives."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


class Passes(NamedTuple):
    """What a forward and a backward pass of C clients give.

    Attributes:
        gradient: Of each client's mean loss, shape (C, P), float32, valid until the next call.
        loss: Each client's mean loss, shape (C,), float32.
        squares: The sum of the samples' squared losses, shape (C,), float64.
        features: The sum of the samples' features, shape (C, F), float32.
    """

    gradient: Tensor
    loss: Tensor
    squares: Tensor
    features: Tensor

    def of_clients(self, clients: int, further: list[NDArray[np.int64]]) -> "Passes":
        """Returns the sums over the lanes of each client; see ``stacked_steps.StackedStep``. It changes these tensors.

        Args:
            clients: A; the first lanes are theirs.
            further: The clients that have a second lane, those that have a third one, …, each of int64.
        """
        sums = Passes(*(values[:clients] for values in self))
        begin = clients
        for own in further:
            index = torch.from_numpy(own).to(self.loss.device)
            # No client twice in one call: then the order of the additions is the same on every device.
            for total, values in zip(sums, self, strict=True):
                total.index_add_(0, index, values[begin : begin + len(own)])
            begin += len(own)
        return sums
