"""Who has which training samples: sizes, then a partition, then a check of what it returned."""

import numpy as np

from fallow.data.dataset import Dataset
from fallow.data.partitions import Natural, Partition, Parts
from fallow.data.partitions.base import check_everyone_has_some
from fallow.data.sizes import Sizes, check_sizes, draw_sizes, samples_per_client
from fallow.errors import ConfigError
from fallow.plugins.calls import call
from fallow.plugins.returned import plain_array


def divide(
    dataset: Dataset,
    partition: Partition | Natural,
    clients: int,
    seed: int,
    *,
    samples: int = 0,
    sizes: Sizes = "equal",
    spread: float = 1.0,
    name: str = "",
) -> Parts:
    """Returns which training samples each client has: N arrays of indices, shape (|D_i|,), int64, all disjoint.

    Args:
        dataset: What is divided.
        partition: Decides which samples a client gets.
        clients: N.
        seed: The same seed gives the same parts.
        samples: How many a client has on average; 0 is the paper's 300, or as many as there are.
        sizes: "equal", "lognormal", or one number for each client.
        spread: σ of "lognormal".
        name: The name of the partition, for error sentences.

    Raises:
        ConfigError: There are too few samples, or the partition returned something that no run can use.

    Examples:
        >>> from fallow.data import Digits, Iid
        >>> parts = divide(Digits().load(seed=0), Iid(), clients=3, seed=0, sizes=[5, 500, 30])
        >>> [len(part) for part in parts]
        [5, 500, 30]
    """
    check_sizes(sizes, clients, samples, partition)
    if isinstance(partition, Natural):
        return partition.split(dataset, clients)
    mean = samples_per_client(samples, len(dataset.y), clients)
    part = f"The partition '{name or type(partition).__name__}'"
    # A copy of the labels: a partition that sorts or shuffles them would change what the samples are.
    drawn = draw_sizes(sizes, clients, mean, seed, spread)
    parts = call(part, "split", partition.split, dataset.y.copy(), drawn, seed)
    return _checked(part, parts, clients, len(dataset.y))


def _checked(what: str, parts: object, clients: int, samples: int) -> Parts:
    """Returns the parts that a partition made as arrays of int64; raises ConfigError if no run can use them."""
    if not isinstance(parts, list | tuple | np.ndarray) or (isinstance(parts, np.ndarray) and parts.ndim == 0):
        raise ConfigError(f"{what} returned a {type(parts).__name__}; it must return a list of arrays, one a client.")
    # Iterating over an array with a mask gives rows with theirs, which are found here.
    arrays = [plain_array(f"The part of a client that {what[0].lower()}{what[1:]} made", part) for part in parts]
    if len(arrays) != clients:
        raise ConfigError(f"{what} returned {len(arrays)} parts for {clients} clients; it must return one for each.")
    for client, part in enumerate(arrays):
        if part.ndim != 1 or (part.size and part.dtype.kind not in "iu"):
            raise ConfigError(
                f"{what} gave client {client} an array of shape {part.shape} and type {part.dtype}; it must be a row "
                "of whole numbers, indices into the training set."
            )
    check_everyone_has_some(np.array([len(part) for part in arrays]))
    every = np.concatenate(arrays)
    if every.min() < 0 or every.max() >= samples:
        raise ConfigError(
            f"{what} names the samples {every.min()} to {every.max()}; the dataset has those from 0 to {samples - 1}."
        )
    counts = np.bincount(every.astype(np.int64), minlength=samples)
    if counts.max() > 1:
        raise ConfigError(
            f"{what} gave the sample {int(counts.argmax())} {counts.max()} times; no sample may have two owners."
        )
    return [part.astype(np.int64) for part in arrays]  # copies: the partition may keep its own
