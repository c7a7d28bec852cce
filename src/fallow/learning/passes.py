"""What one step of many clients gives."""

from typing import NamedTuple

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
