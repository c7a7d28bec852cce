"""What a partition is: disjoint parts of the training set, one for each client, each of the size it is asked for."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fallow.errors import ConfigError

Parts = list[NDArray[np.int64]]
"""Each client's samples: N arrays of indices into the training set, shape (|D_i|,), int64."""


class Partition(Protocol):
    """Gives each client its training samples. A frozen dataclass whose fields are its options."""

    def split(self, y: NDArray[np.int64], sizes: NDArray[np.int64], seed: int) -> Parts:
        """Returns which samples each client has.

        Args:
            y: The labels of the training samples, shape (samples,), int64.
            sizes: |D_i|, how many samples each client gets, shape (N,), int64.
            seed: The same seed gives the same parts.

        Returns:
            N arrays of indices into `y`, shape (|D_i|,), int64; no index occurs twice, and each array is sorted.

        Raises:
            ConfigError: There are too few samples.
        """
        ...


def check_supply(y: NDArray[np.int64], sizes: NDArray[np.int64]) -> None:
    """Checks that there are enough samples for all clients, and that each client gets some.

    Args:
        y: The labels of the training samples, shape (samples,), int64.
        sizes: |D_i|, shape (N,), int64.

    Raises:
        ConfigError: There are fewer samples than the sum of the sizes, a client gets none, or there is no client.
    """
    if not len(sizes):
        raise ConfigError("There are no clients to divide the samples among; there must be at least one.")
    check_everyone_has_some(sizes)
    needed = int(sizes.sum())
    if needed > len(y):
        equal = bool((sizes == sizes[0]).all())
        raise ConfigError(
            f"{len(sizes)} clients with {f'{sizes[0]} samples each' if equal else 'the sizes given'} need {needed} "
            f"training samples, but the dataset has {len(y)}; lower clients or "
            f"{'samples_per_client' if equal else 'the sizes'}, or choose a larger dataset."
        )


def check_everyone_has_some(sizes: NDArray[np.int64]) -> None:
    """Checks that no client is without samples: it could neither train nor probe.

    Args:
        sizes: |D_i|, shape (N,), int64.

    Raises:
        ConfigError: A client gets none.
    """
    if sizes.min() < 1:
        client = int(sizes.argmin())
        raise ConfigError(
            f"Client {client} would have {sizes[client]} training samples, and each needs at least one; leave the "
            "client out, or give it samples."
        )


def shuffled_classes(y: NDArray[np.int64], rng: np.random.Generator) -> Parts:
    """Returns the indices of the samples of each class that occurs, in random order.

    Args:
        y: The labels of the training samples, shape (samples,), int64.
        rng: The stream to draw from.

    Returns:
        For each class, indices into `y`, shape (samples of the class,), int64.
    """
    order = rng.permutation(len(y))
    return [order[y[order] == label] for label in np.unique(y)]


def cut(order: NDArray[np.int64], sizes: NDArray[np.int64]) -> Parts:
    """Returns consecutive pieces of the given sizes, each sorted.

    Args:
        order: Indices, shape (at least the sum of the sizes,), int64.
        sizes: Shape (pieces,), int64.
    """
    ends = np.cumsum(sizes)
    return [np.sort(order[end - size : end]) for end, size in zip(ends.tolist(), sizes.tolist(), strict=True)]
