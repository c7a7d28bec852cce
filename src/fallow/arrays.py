"""Arrays over clients: settings given once or per client, and views that can't be written to."""

from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fallow.errors import ConfigError

Scalar = TypeVar("Scalar", bound=np.generic)


def per_client(what: str, value: ArrayLike, clients: int, dtype: type[Scalar]) -> NDArray[Scalar]:
    """Returns a setting that is one number, or one for each client, as a read-only array of shape (N,).

    One number costs no memory: the array repeats it.

    Args:
        what: The setting, for the error sentence.
        value: One number, or numbers of shape (N,).
        clients: N.
        dtype: The type of the array.

    Raises:
        ConfigError: `value` has another length than N.

    Examples:
        >>> per_client("battery.capacity", 25, clients=3, dtype=np.int32)
        array([25, 25, 25], dtype=int32)
    """
    given = np.asarray(value, dtype=dtype)
    if given.ndim == 1 and given.size != clients:
        raise ConfigError(
            f"{what} has {given.size} numbers for {clients} clients; give one number, or one for each client."
        )
    return np.broadcast_to(given, clients)


def frozen_copy(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Returns a read-only copy of an array of any shape and type; it does not change when `array` does."""
    copy = array.copy()
    copy.flags.writeable = False
    return copy
