"""What a model itself can say of the harvest to come, and how far that is from the truth."""

from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Outlook(NamedTuple):
    """What is expected in the rest of an epoch and in those that follow.

    Attributes:
        units: Expected units, shape (N, H), float64.
        error: The root mean square error of each number, in units, shape (N, H), float64.
    """

    units: NDArray[np.float64]
    error: NDArray[np.float64]


EpochForecast = Callable[[int, int], Outlook]
"""From (epoch, H) to the outlook in the first slot of the epoch, when this slot's harvest is in. The first column is
the rest of the epoch, S−1 slots; the others are the H−1 epochs that follow."""


@runtime_checkable
class Forecasting(Protocol):
    """A model that can say what to expect."""

    def prepare_forecast(self, seed: int, clients: int, slots_per_epoch: int) -> EpochForecast:
        """Returns the forecast: the mean of what is to come, given what is known in the first slot of an epoch.

        Args:
            seed: The seed of the run.
            clients: N.
            slots_per_epoch: S.
        """
        ...


def window_slots(epochs: int, slots_per_epoch: int) -> NDArray[np.int64]:
    """Returns how many slots each column of a forecast covers, shape (H,), int64.

    Args:
        epochs: H.
        slots_per_epoch: S.

    Examples:
        >>> window_slots(3, slots_per_epoch=30).tolist()
        [29, 30, 30]
    """
    slots = np.full(epochs, slots_per_epoch, dtype=np.int64)
    slots[:1] -= 1
    return slots


def steady_forecast(mean: ArrayLike, variance: ArrayLike, clients: int, slots_per_epoch: int) -> EpochForecast:
    """Returns the forecast of a model without memory: the mean, whatever was harvested.

    Args:
        mean: Units a slot: one number, or one for each client.
        variance: Of the units of a slot: one number, or one for each client.
        clients: N.
        slots_per_epoch: S.

    Examples:
        >>> forecast = steady_forecast(mean=0.5, variance=0.25, clients=1, slots_per_epoch=5)
        >>> forecast(0, 2).units.tolist(), forecast(0, 2).error.tolist()
        ([[2.0, 2.5]], [[1.0, 1.118033988749895]])
    """
    means = np.broadcast_to(np.asarray(mean, dtype=np.float64), clients)[:, None]
    variances = np.broadcast_to(np.asarray(variance, dtype=np.float64), clients)[:, None]

    def forecast(_epoch: int, epochs: int) -> Outlook:
        slots = window_slots(epochs, slots_per_epoch)
        return Outlook(means * slots, np.sqrt(variances * slots))

    return forecast
