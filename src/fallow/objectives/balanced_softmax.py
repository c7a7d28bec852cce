"""Balanced softmax: a local loss that knows how often each class occurs at the client.

Ren et al., "Balanced Meta-Softmax for Long-Tailed Visual Recognition", 2020 (arXiv 2007.10740): the loss is the
cross-entropy of z + log π, with π the shares of the classes in the data. Theirs are the shares of one training set;
here they are those of each client's own data, so that clients with different labels pull the model apart less.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field


@dataclass(frozen=True)
class BalancedSoftmax:
    """The cross-entropy of z + log π_i, π_i the shares of the classes in the client's own data.

    With no smoothing a class that the client does not have is left out of its loss: its logit is not pushed down.

    Attributes:
        smoothing: Samples that are added to every class before the shares are taken.

    Examples:
        >>> [round(float(number), 3) for number in BalancedSoftmax().offset(np.array([1, 3]))]
        [-1.386, -0.288]
        >>> BalancedSoftmax().offset(np.array([0, 3])).tolist()
        [-inf, 0.0]
    """

    smoothing: Annotated[float, Field(ge=0, description="samples added to every class before shares are taken")] = 0.0

    def offset(self, counts: NDArray[np.int64]) -> NDArray[np.float32] | None:
        """Returns log π, shape (K,), float32."""
        share = (counts + self.smoothing) / (counts + self.smoothing).sum()
        with np.errstate(divide="ignore"):
            offset: NDArray[np.float32] = np.log(share).astype(np.float32)
        return offset
