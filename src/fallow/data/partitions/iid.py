"""IID: every client has a random sample of the whole."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fallow.data.partitions.base import check_supply
from fallow.rng import Purpose, stream


@dataclass(frozen=True)
class Iid:
    """The images are shuffled and dealt out.

    Examples:
        >>> Iid().split(np.array([0, 1, 0, 1]), clients=2, samples_per_client=2, seed=0).shape
        (2, 2)
    """

    def split(self, y: NDArray[np.int64], clients: int, samples_per_client: int, seed: int) -> NDArray[np.int64]:
        """Returns indices into `y`, shape (N, n), int64; see `Partition`.

        Args:
            y: The labels of the training images, shape (images,), int64.
            clients: N.
            samples_per_client: n, the images of each client.
            seed: The same seed gives the same parts.

        Raises:
            ConfigError: There are too few images.
        """
        check_supply(y, clients, samples_per_client)
        order = stream(seed, Purpose.PARTITION).permutation(len(y))
        return np.sort(order[: clients * samples_per_client].reshape(clients, samples_per_client), axis=1)
