"""The checks of datasets and of partitions: usable, and the same for the same seed."""

from hashlib import blake2b

import numpy as np

from fallow.conformance.sentences import first_problem, unchanged
from fallow.data import Dataset, DatasetOptions, Natural, Partition, Sensors, divide, loaded
from fallow.data.sizes import Sizes
from fallow.errors import PluginError

SEED = 5
CLIENTS = 8
SAMPLES = 400
EACH = 10
"""How many samples a client is to get, where all get as many."""
SIZES = (20, 1, 7, 12, 5, 20, 3, 9)
"""The same, where they differ."""


def check_dataset(source: DatasetOptions) -> list[str]:
    """Returns what is wrong with a dataset, in a sentence; an empty list if nothing is.

    Args:
        source: Where it comes from, made with its options.

    Examples:
        >>> from fallow.data import Synthetic
        >>> check_dataset(Synthetic(samples=60, test_samples=20))
        []
    """
    return first_problem(lambda: _check_dataset(source))


def _check_dataset(source: DatasetOptions) -> None:
    part = f"The dataset '{type(source).__name__}'"
    with unchanged(part, source):
        first = _fingerprint(loaded(source, SEED))  # before it is loaded again, which may change what it gave
        again = _fingerprint(loaded(source, SEED))
    for field, found in first.items():
        if again[field] != found:
            raise PluginError(
                f"{part} had another {field} when it was loaded again with the same seed, so that a resumed run would "
                "differ: draw from np.random.default_rng(seed) alone, and don't change what was returned before."
            )


def _fingerprint(dataset: Dataset) -> dict[str, bytes]:
    arrays = {"x": dataset.x, "y": dataset.y, "x_test": dataset.x_test, "y_test": dataset.y_test}
    arrays |= {} if dataset.client is None else {"client": dataset.client}
    plain = {field: blake2b(np.ascontiguousarray(array).data).digest() for field, array in arrays.items()}
    return plain | {"mean, std or classes": repr((dataset.mean, dataset.std, dataset.classes)).encode()}


def check_partition(partition: Partition | Natural) -> list[str]:
    """Returns what is wrong with a partition, in a sentence; an empty list if nothing is.

    Args:
        partition: The partition, made with its options.

    Examples:
        >>> from fallow.data import Iid
        >>> check_partition(Iid())
        []
    """
    return first_problem(lambda: _check_partition(partition))


def _check_partition(partition: Partition | Natural) -> None:
    part = f"The partition '{type(partition).__name__}'"
    dataset = Sensors(samples=SAMPLES, test_samples=20, clients=CLIENTS, classes=4).load(SEED)
    with unchanged(part, partition):
        natural = isinstance(partition, Natural)  # it gives everyone what is theirs
        asked: list[tuple[int, Sizes]] = [(0, "equal")] if natural else [(EACH, "equal"), (0, SIZES)]
        for each, sizes in asked:
            first, again = (divide(dataset, partition, CLIENTS, SEED, samples=each, sizes=sizes) for _ in range(2))
            if not all(map(np.array_equal, first, again)):
                raise PluginError(
                    f"{part} gave other samples when it was asked again with the same seed: draw from "
                    "fallow.rng.stream(seed, Purpose.PARTITION) alone."
                )
