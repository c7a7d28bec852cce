"""Dirichlet: every client has its own mix of classes (reading 13)."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.data.partitions.base import Parts, check_supply, shuffled_classes
from fallow.errors import ConfigError
from fallow.rng import Purpose, stream

NOTHING = 1e-12
"""A share below this counts as zero."""


@dataclass(frozen=True)
class Dirichlet:
    """Client by client, without replacement across clients.

    1. The samples of each class are shuffled, and the order in which the clients choose is drawn, both by the seed.
    2. Client i draws its shares of the classes from Dirichlet(α, …, α), from its own stream: they do not depend on
       how many other clients there are.
    3. In the order of step 1, each client draws how many of its |D_i| samples are of each class, from the multinomial
       distribution with its shares of the classes that still have samples, scaled to sum to 1. If these shares are all
       zero, it draws with the classes' shares of the samples that are left.
    4. It takes the next samples of each class. What a class could not supply is drawn again as in step 3, until the
       client has |D_i| samples.

    Clients that choose late find some classes used up, especially if all clients have almost the whole training set.

    Attributes:
        alpha: α. A small α gives each client few classes; a large α gives all clients the same mix.

    Examples:
        >>> parts = Dirichlet(alpha=0.1).split(np.array([0, 1, 0, 1]), sizes=np.array([3, 1]), seed=0)
        >>> [len(part) for part in parts]
        [3, 1]
    """

    alpha: Annotated[
        float, Field(gt=0, description="α: small gives each client few classes, large gives all the same mix")
    ] = 0.1

    def split(self, y: NDArray[np.int64], sizes: NDArray[np.int64], seed: int) -> Parts:
        """Returns N arrays of indices into `y`; see `Partition`.

        Args:
            y: The labels of the training samples, shape (samples,), int64.
            sizes: |D_i|, how many samples each client gets, shape (N,), int64.
            seed: The same seed gives the same parts.

        Raises:
            ConfigError: There are too few samples, or α is not above 0.
        """
        if not (self.alpha > 0 and np.isfinite(self.alpha)):
            raise ConfigError(f"alpha = {self.alpha} must be a finite number above 0.")
        check_supply(y, sizes)
        rng = stream(seed, Purpose.PARTITION)
        pools = shuffled_classes(y, rng)
        size = np.array([pool.size for pool in pools])
        left = size.copy()
        parts: dict[int, NDArray[np.int64]] = {}
        for client in rng.permutation(len(sizes)).tolist():
            client_rng = stream(seed, Purpose.PARTITION, client=client)
            shares = client_rng.dirichlet(np.full(len(pools), self.alpha))
            taken = allot(shares, left, int(sizes[client]), client_rng)
            first = size - left
            pieces = [pool[a : a + count] for pool, a, count in zip(pools, first, taken, strict=True)]
            parts[client] = np.sort(np.concatenate(pieces))
            left = left - taken
        return [parts[client] for client in range(len(sizes))]


def allot(
    shares: NDArray[np.float64], left: NDArray[np.int64], samples: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Returns how many samples of each class a client takes, shape (classes,), int64, `samples` in all.

    Args:
        shares: The client's shares of the classes, shape (classes,), float64, with the sum 1.
        left: Samples left of each class, shape (classes,), int64; at least `samples` in all.
        samples: How many the client needs.
        rng: The client's stream.
    """
    taken = np.zeros_like(left)
    while (missing := samples - int(taken.sum())) > 0:
        spare = left - taken
        wanted = np.where(spare > 0, shares, 0.0)
        if wanted.sum() < NOTHING:
            wanted = spare.astype(np.float64)
        taken += np.minimum(rng.multinomial(missing, wanted / wanted.sum()), spare)
    return taken
