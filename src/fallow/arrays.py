"""Arrays over clients: settings given once or per client, and views that can't be written to."""

from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fallow.errors import ConfigError

Scalar = TypeVar("Scalar", bound=np.generic)


def per_client(what: str, value: ArrayLike, clients: int, dtype: type[Scalar]) -> NDArray[Scalar]:
    """Returns a setting that is one number, or one for each client, as a read-only array of shape (N,).

    One number costs no memory: the array repeats it.
    """
    given = np.asarray(value, dtype=dtype)
    if given.ndim == 1 and given.size != clients:
        raise ConfigError(
            f"{what} has {given.size} numbers for {clients} clients; give one number, or one for each client."
        )
    return np.broadcast_to(given, clients)


def frozen_copy(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Returns a copy that nobody can write to and that stays as it is when `array` changes."""
    copy = array.copy()
    copy.flags.writeable = False
    return copy
