"""The datasets and the partitions by name. A new one is one file and one line in its table."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fallow.data.cifar10 import Cifar10
from fallow.data.dataset import Dataset, DatasetOptions, checked_dataset, loaded
from fallow.data.digits import Digits
from fallow.data.division import divide
from fallow.data.fashion_mnist import FashionMnist
from fallow.data.from_arrays import dataset_from_arrays
from fallow.data.function import from_outside
from fallow.data.label_mix import draw_label_mix, label_mix
from fallow.data.npz import PREFIX, npz
from fallow.data.partitions import PARTITIONS, Dirichlet, Iid, Natural, OneClass, Partition, Parts
from fallow.data.published import SILENT
from fallow.data.sensors import Sensors
from fallow.data.sizes import Sizes, samples_per_client
from fallow.data.sources import Watcher
from fallow.data.synthetic import Synthetic
from fallow.errors import ConfigError, DataError
from fallow.plugins.names import find_outside, resolve
from fallow.plugins.options import with_options
from fallow.plugins.wording import did_you_mean

DATASETS: dict[str, type] = {
    "digits": Digits,
    "cifar10": Cifar10,
    "fashion-mnist": FashionMnist,
    "synthetic": Synthetic,
    "sensors": Sensors,
}


def resolve_dataset(name: str) -> type[Any]:
    """Returns the class of options that `name` stands for.

    Args:
        name: A key of DATASETS, ``npz:PATH``, or ``module:function`` (or ``module:Class``).

    Raises:
        ConfigError: There is no such dataset.

    Examples:
        >>> resolve_dataset("digits")
        <class 'fallow.data.digits.Digits'>
    """
    if name.startswith(PREFIX):
        return npz(name.removeprefix(PREFIX))
    if name in DATASETS:
        return DATASETS[name]
    return from_outside(name, find_outside(name, DATASETS, "dataset", "fallow.data"))


def load_dataset(name: str, *, seed: int, data_dir: Path | None = None, **options: Any) -> Dataset:
    """Returns a checked dataset. Never uses the network; only ``fetch`` does.

    Args:
        name: A key of DATASETS, ``npz:PATH``, or ``module:function`` (or ``module:Class``).
        seed: The seed of what is random in a generated dataset.
        data_dir: Where fetched data is kept; None is $FALLOW_DATA_DIR or the user's cache.
        **options: The fields of the dataset's class.

    Raises:
        ConfigError: There is no such dataset or option, or the dataset can't be used.
        DataError: The data is missing or damaged.

    Examples:
        >>> dataset = load_dataset("synthetic", seed=0, samples=60, classes=3)
        >>> dataset.x.shape, dataset.x.dtype, dataset.classes
        ((60, 1, 16, 16), dtype('float32'), 3)
    """
    source = with_options(f"The dataset '{name}'", resolve_dataset(name), options)
    return loaded(source, seed, data_dir, name)


def fetch(name: str, data_dir: Path | None = None, given: Path | None = None, watcher: Watcher = SILENT) -> Path:
    """Fetches a published dataset into the cache and returns its folder there.

    Args:
        name: A published dataset, such as "cifar10".
        data_dir: Where to keep it; None is $FALLOW_DATA_DIR or the user's cache.
        given: A folder or archive of its files that the user already has; then no source is asked.
        watcher: Receives the progress.

    Raises:
        ConfigError: There is no such dataset, or it needs no fetching.
        DataError: No source gave the right data.
    """
    fetched = {key: cls.published for key, cls in DATASETS.items() if hasattr(cls, "published")}
    if name in DATASETS and name not in fetched:
        raise ConfigError(f"The dataset '{name}' needs no fetching; it is ready for use.")
    if name not in fetched:
        raise ConfigError(f"There is no dataset '{name}' to fetch{did_you_mean(name, fetched)}")
    folder: Path = fetched[name].fetch(data_dir, given, watcher)
    return folder


def is_ready(name: str, data_dir: Path | None = None) -> bool:
    """Returns whether one of Fallow's datasets can be loaded without a fetch.

    Args:
        name: A key of DATASETS.
        data_dir: Where fetched data is kept; None is $FALLOW_DATA_DIR or the user's cache.

    Examples:
        >>> is_ready("digits")
        True
    """
    published = getattr(DATASETS[name], "published", None)
    return published is None or bool(published.is_cached(data_dir))


def partition(
    name: str,
    dataset: Dataset,
    clients: int,
    seed: int,
    *,
    samples_per_client: int = 0,
    sizes: Sizes = "equal",
    spread: float = 1.0,
    options: Mapping[str, Any] | None = None,
) -> Parts:
    """Returns which training samples each client has: N arrays of indices, shape (|D_i|,), int64, all disjoint.

    Args:
        name: A key of PARTITIONS, or ``module:Class``.
        dataset: What is divided.
        clients: N.
        seed: The same seed gives the same parts.
        samples_per_client: How many a client has on average; 0 is the paper's 300, or as many as there are.
        sizes: "equal", "lognormal", or one number for each client.
        spread: σ of "lognormal".
        options: The fields of the partition's class.

    Raises:
        ConfigError: There is no such partition or option, or there are too few samples.

    Examples:
        >>> digits = load_dataset("digits", seed=0)
        >>> [len(part) for part in partition("iid", digits, clients=3, seed=0, sizes=[40, 10, 60])]
        [40, 10, 60]
    """
    cls = resolve(name, PARTITIONS, "partition", "fallow.partitions")
    chosen: Partition | Natural = with_options(f"The partition '{name}'", cls, options or {})
    return divide(dataset, chosen, clients, seed, samples=samples_per_client, sizes=sizes, spread=spread, name=name)


__all__ = [
    "DATASETS",
    "PARTITIONS",
    "Cifar10",
    "DataError",
    "Dataset",
    "DatasetOptions",
    "Digits",
    "Dirichlet",
    "FashionMnist",
    "Iid",
    "Natural",
    "OneClass",
    "Partition",
    "Sensors",
    "Synthetic",
    "checked_dataset",
    "dataset_from_arrays",
    "divide",
    "draw_label_mix",
    "fetch",
    "is_ready",
    "label_mix",
    "load_dataset",
    "loaded",
    "partition",
    "resolve_dataset",
    "samples_per_client",
]
