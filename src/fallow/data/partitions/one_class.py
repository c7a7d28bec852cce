"""One class: every client has samples of a single class, the extreme of skewed data."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fallow.data.partitions.base import Parts, check_supply, cut, shuffled_classes
from fallow.errors import ConfigError
from fallow.rng import Purpose, stream


@dataclass(frozen=True)
class OneClass:
    """Clients take classes in turn, in an order drawn by the seed: each class has as many, to within one.

    Examples:
        >>> parts = OneClass().split(np.array([0, 1, 0, 1]), sizes=np.array([2, 2]), seed=0)
        >>> [part.tolist() for part in parts]
        [[0, 2], [1, 3]]
    """

    def split(self, y: NDArray[np.int64], sizes: NDArray[np.int64], seed: int) -> Parts:
        """Returns N arrays of indices into `y`; see `Partition`.

        Args:
            y: The labels of the training samples, shape (samples,), int64.
            sizes: |D_i|, how many samples each client gets, shape (N,), int64.
            seed: The same seed gives the same parts.

        Raises:
            ConfigError: A class has too few samples.
        """
        check_supply(y, sizes)
        rng = stream(seed, Purpose.PARTITION)
        pools = shuffled_classes(y, rng)
        order = rng.permutation(len(sizes))
        parts: dict[int, NDArray[np.int64]] = {}
        for number, pool in enumerate(pools):
            owners = order[number :: len(pools)]
            needed = int(sizes[owners].sum())
            if needed > pool.size:
                raise ConfigError(
                    f"Class {y[pool[0]]} has {pool.size} training samples, but the {owners.size} clients that get it "
                    f"need {needed}; lower clients or their numbers of samples."
                )
            parts |= zip(owners.tolist(), cut(pool, sizes[owners]), strict=True)
        return [parts[client] for client in range(len(sizes))]
