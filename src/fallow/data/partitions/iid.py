"""IID: every client has a random sample of the whole."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fallow.data.partitions.base import Parts, check_supply, cut
from fallow.rng import Purpose, stream


@dataclass(frozen=True)
class Iid:
    """The samples are shuffled and dealt out.

    Examples:
        >>> parts = Iid().split(np.array([0, 1, 0, 1]), sizes=np.array([1, 3]), seed=0)
        >>> [len(part) for part in parts]
        [1, 3]
    """

    def split(self, y: NDArray[np.int64], sizes: NDArray[np.int64], seed: int) -> Parts:
        """Returns N arrays of indices into `y`; see `Partition`.

        Args:
            y: The labels of the training samples, shape (samples,), int64.
            sizes: |D_i|, how many samples each client gets, shape (N,), int64.
            seed: The same seed gives the same parts.

        Raises:
            ConfigError: There are too few samples.
        """
        check_supply(y, sizes)
        return cut(stream(seed, Purpose.PARTITION).permutation(len(y)), sizes)
