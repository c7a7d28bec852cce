"""What a partition is: disjoint parts of the training set, one for each client, all of the same size."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fallow.errors import ConfigError

PAPER_SAMPLES = 300
"""|D_i| in the paper."""


class Partition(Protocol):
    """Gives each client its training images. A frozen dataclass whose fields are its options."""

    def split(self, y: NDArray[np.int64], clients: int, samples_per_client: int, seed: int) -> NDArray[np.int64]:
        """Returns which images each client has.

        Args:
            y: The labels of the training images, shape (images,), int64.
            clients: N.
            samples_per_client: n, the images of each client.
            seed: The same seed gives the same parts.

        Returns:
            Indices into `y`, shape (N, n), int64; no index occurs twice, and each row is sorted.

        Raises:
            ConfigError: There are too few images.
        """
        ...


def samples_per_client(wanted: int, samples: int, clients: int) -> int:
    """Returns n, how many training samples each client gets.

    Args:
        wanted: The setting; 0 is the paper's 300, or fewer if the training set is too small for that.
        samples: How many samples the training set has.
        clients: N.

    Examples:
        >>> samples_per_client(wanted=0, samples=1500, clients=100)
        15
    """
    return wanted or max(1, min(PAPER_SAMPLES, samples // clients))


def check_supply(y: NDArray[np.int64], clients: int, samples_per_client: int) -> None:
    """Checks that there are enough images for all clients.

    Args:
        y: The labels of the training images, shape (images,), int64.
        clients: N.
        samples_per_client: n, the images of each client.

    Raises:
        ConfigError: There are fewer than N·n images, or N or n is below 1.
    """
    if clients < 1 or samples_per_client < 1:
        raise ConfigError(f"clients = {clients} and samples_per_client = {samples_per_client} must both be at least 1.")
    if clients * samples_per_client > len(y):
        raise ConfigError(
            f"{clients} clients with {samples_per_client} samples each need {clients * samples_per_client} training "
            f"samples, but the dataset has {len(y)}; lower clients or samples_per_client, or choose a larger dataset."
        )


def shuffled_classes(y: NDArray[np.int64], rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Returns the indices of the images of each class that occurs, in random order.

    Args:
        y: The labels of the training images, shape (images,), int64.
        rng: The stream to draw from.

    Returns:
        For each class, indices into `y`, shape (images of the class,), int64.
    """
    order = rng.permutation(len(y))
    return [order[y[order] == label] for label in np.unique(y)]
