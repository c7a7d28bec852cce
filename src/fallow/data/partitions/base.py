"""What a partition is: disjoint parts of the training set, one for each client, all of the same size."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fallow.errors import ConfigError

PAPER_SAMPLES = 300
"""|D_i| in the paper."""


class Partition(Protocol):
    """Deals the training images out. A frozen dataclass whose fields are its options."""

    def split(self, y: NDArray[np.int64], clients: int, samples_per_client: int, seed: int) -> NDArray[np.int64]:
        """Returns which images each client has.

        Args:
            y: The labels of the training images, shape (images,), int64.
            clients: N.
            samples_per_client: n.
            seed: The same seed gives the same parts.

        Returns:
            Shape (N, n), int64: indices into `y`, none of them twice, each row in rising order.
        """
        ...


def samples_per_client(wanted: int, samples: int, clients: int) -> int:
    """Returns n, how many training samples each client gets.

    Args:
        wanted: As many, if there are enough; 0 is the paper's 300, or as many as there are for each client.
        samples: In the training set.
        clients: N.
    """
    return wanted or max(1, min(PAPER_SAMPLES, samples // clients))


def check_supply(y: NDArray[np.int64], clients: int, samples_per_client: int) -> None:
    """Refuses to deal out more images than there are."""
    if clients < 1 or samples_per_client < 1:
        raise ConfigError(f"clients = {clients} and samples_per_client = {samples_per_client} must both be at least 1.")
    if clients * samples_per_client > len(y):
        raise ConfigError(
            f"{clients} clients with {samples_per_client} samples each need {clients * samples_per_client} training "
            f"samples, but the dataset has {len(y)}; lower clients or samples_per_client, or choose a larger dataset."
        )


def shuffled_classes(y: NDArray[np.int64], rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Returns the indices of the images of each class that occurs, in random order: int64 arrays."""
    order = rng.permutation(len(y))
    return [order[y[order] == label] for label in np.unique(y)]
