"""Natural: every client has the samples that the dataset says are its own."""

from dataclasses import dataclass

import numpy as np

from fallow.data.dataset import Dataset
from fallow.data.partitions.base import Parts
from fallow.errors import ConfigError


@dataclass(frozen=True)
class Natural:
    """The owners that the dataset names, such as the people who wore a sensor; nothing is random.

    Unlike the other partitions it is given the whole dataset, and no sizes: the owners decide these too.

    Examples:
        >>> from fallow.data import dataset_from_arrays
        >>> x, y = np.zeros((3, 8)), np.array([0, 1, 0])
        >>> dataset = dataset_from_arrays("mine", x, y, x, y, client=np.array([1, 0, 1]))
        >>> [part.tolist() for part in Natural().split(dataset, clients=2)]
        [[1], [0, 2]]
    """

    def split(self, dataset: Dataset, clients: int) -> Parts:
        """Returns N arrays of indices into the training set, shape (|D_i|,), int64, each sorted.

        Args:
            dataset: Names the client of each training sample.
            clients: N.

        Raises:
            ConfigError: The dataset names no owners, or others than the clients 0 to N − 1, each of them.
        """
        owner = dataset.client
        if owner is None:
            raise ConfigError(
                f"The dataset '{dataset.name}' does not say which client each sample belongs to, which the partition "
                "'natural' follows; give it an array 'client', or choose another partition."
            )
        owners = int(owner.max()) + 1
        if owners != clients:
            raise ConfigError(
                f"The dataset '{dataset.name}' has the samples of {owners} clients, but clients = {clients}; set "
                f"clients = {owners}, or choose another partition."
            )
        sizes = np.bincount(owner, minlength=clients)
        if not sizes.all():
            raise ConfigError(
                f"The dataset '{dataset.name}' has no sample of client {int(sizes.argmin())}, and each client needs at "
                f"least one; number the clients that have some from 0 to {np.count_nonzero(sizes) - 1}."
            )
        return np.split(np.argsort(owner, kind="stable"), np.cumsum(sizes)[:-1])
