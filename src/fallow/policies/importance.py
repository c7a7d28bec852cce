"""How much each client's update counts, as a policy says it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.errors import PolicyError
from fallow.plugins.returned import plain_array
from fallow.policies.base import AnyPolicy, Weigher


def importances(policy: AnyPolicy, state: Any, clients: int) -> NDArray[np.float64]:
    """Returns the factor on the change that each client's update makes, shape (N,), float64; 1 without `importance`.

    Args:
        policy: Any policy.
        state: Its memory, as it is when updates are combined.
        clients: N.

    Raises:
        PolicyError: The policy's `importance` returned something else than a number of 0 or more for each client.

    Examples:
        >>> from fallow.policies.fedavg import FedAvg
        >>> importances(FedAvg(), None, 2)
        array([1., 1.])
    """
    if not isinstance(policy, Weigher):
        return np.ones(clients)
    given = plain_array("What the policy's importance returned", policy.importance(state), PolicyError)
    if given.dtype.kind not in "biuf" or given.shape not in ((), (clients,)):
        raise PolicyError(
            f"The policy's importance returned an array of shape {given.shape} and type {given.dtype}; it must return "
            f"one number for each client, shape ({clients},), or one for all."
        )
    if not ((given >= 0) & (given < np.inf)).all():
        raise PolicyError(
            f"The policy's importance returned the numbers {given.tolist()}; they must be finite and 0 or more."
        )
    return np.broadcast_to(given, clients).astype(np.float64)
