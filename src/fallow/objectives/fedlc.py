"""FedLC: a local loss with a larger margin for classes that are rare at the client.

Zhang et al., "Federated Learning with Label Distribution Skew via Logits Calibration", 2022 (arXiv 2209.00189): the
loss is the cross-entropy of z_c − τ · n_c^(−1/4), with n_c the client's samples of class c.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field


@dataclass(frozen=True)
class FedLC:
    """The cross-entropy of z_c − τ·n_c^(−1/4), n_c the client's samples of class c.

    Attributes:
        tau: τ, how large the margins are.

    Examples:
        >>> FedLC(tau=1.0).offset(np.array([16, 1])).tolist()
        [-0.5, -1.0]
    """

    tau: Annotated[float, Field(ge=0, description="τ: how large the margins of rare classes are")] = 1.0

    def offset(self, counts: NDArray[np.int64]) -> NDArray[np.float32] | None:
        """Returns −τ·n_c^(−1/4), shape (K,), float32; minus infinity for a class that the client does not have."""
        # The formula has no value at n_c = 0. Its limit leaves the class out of the client's loss.
        offset = np.full(counts.shape, -np.inf)
        offset[counts > 0] = -self.tau * counts[counts > 0] ** -0.25
        return offset.astype(np.float32)
