"""One class: every client has images of a single class, the extreme of skewed data."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fallow.data.partitions.base import check_supply, shuffled_classes
from fallow.errors import ConfigError
from fallow.rng import Purpose, stream


@dataclass(frozen=True)
class OneClass:
    """Clients take classes in turn, in an order drawn by the seed: each class has as many, to within one.

    Examples:
        >>> OneClass().split(np.array([0, 1, 0, 1]), clients=2, samples_per_client=2, seed=0).shape
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
            ConfigError: A class has too few images.
        """
        check_supply(y, clients, samples_per_client)
        rng = stream(seed, Purpose.PARTITION)
        pools = shuffled_classes(y, rng)
        order = rng.permutation(clients)
        parts = np.empty((clients, samples_per_client), dtype=np.int64)
        for number, pool in enumerate(pools):
            owners = order[number :: len(pools)]
            needed = owners.size * samples_per_client
            if needed > pool.size:
                raise ConfigError(
                    f"Class {y[pool[0]]} has {pool.size} training samples, but {owners.size} clients with "
                    f"{samples_per_client} each need {needed}; lower clients or samples_per_client."
                )
            parts[owners] = pool[:needed].reshape(owners.size, samples_per_client)
        return np.sort(parts, axis=1)
