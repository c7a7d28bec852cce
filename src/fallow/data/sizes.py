"""How many training samples each client has: |D_i|."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fallow.data.partitions.natural import Natural
from fallow.energy.devices.classes import classes_in
from fallow.errors import ConfigError
from fallow.rng import Purpose, stream

PAPER_SAMPLES = 300
"""|D_i| in the paper."""

Sizes = Literal["equal", "lognormal"] | Sequence[int]
"""All the same, drawn, or one number for each client."""


def samples_per_client(wanted: int, samples: int, clients: int) -> int:
    """Returns how many training samples a client has on average.

    Args:
        wanted: The setting; 0 is the paper's 300, or fewer if the training set is too small for that.
        samples: How many samples the training set has.
        clients: N.

    Examples:
        >>> samples_per_client(wanted=0, samples=1500, clients=100)
        15
    """
    return wanted or max(1, min(PAPER_SAMPLES, samples // clients))


def check_sizes(sizes: Sizes, clients: int, wanted: int, partition: object = None) -> None:
    """Checks the settings of the sizes against each other.

    Args:
        sizes: The setting `data.sizes`.
        clients: N.
        wanted: The setting `data.samples_per_client`.
        partition: The chosen partition; "natural" leaves nothing to say about sizes.

    Raises:
        ConfigError: Two settings both say how many samples a client has, or a list has another length than N.

    Examples:
        >>> check_sizes([30, 10], clients=3, wanted=0)
        Traceback (most recent call last):
        ...
        fallow.errors.ConfigError: data.sizes has 2 numbers for 3 clients; give one for each client.
    """
    listed = not isinstance(sizes, str)
    if isinstance(partition, Natural) and (sizes != "equal" or wanted):
        setting = f"data.samples_per_client = {wanted}" if wanted else "data.sizes"
        raise ConfigError(
            f"{setting} can't be together with data.partition = 'natural', where the dataset says who has which "
            "samples; remove it, or choose another partition."
        )
    if listed and len(sizes) != clients:
        raise ConfigError(f"data.sizes has {len(sizes)} numbers for {clients} clients; give one for each client.")
    if listed and wanted:
        raise ConfigError(
            f"data.samples_per_client = {wanted} can't be together with a list in data.sizes, which says it all; "
            "remove one of them."
        )


def draw_sizes(sizes: Sizes, clients: int, mean: int, seed: int, spread: float = 1.0) -> NDArray[np.int64]:
    """Returns |D_i| of every client, shape (N,), int64.

    "lognormal" gives every client one sample, and divides the other N·(mean − 1) in proportion to exp(σ·z_i), with z_i
    from the standard normal distribution: rounded down, and the largest remainders get what is left. So the sum is
    N·mean to the last sample, whatever the spread, and the first clients draw the same z_i however many follow.

    Args:
        sizes: "equal", "lognormal", or one number for each client.
        clients: N.
        mean: The mean size of a client; a list does without.
        seed: The same seed gives the same sizes.
        spread: σ of "lognormal", the deviation of the logarithm; 0 is as "equal".

    Examples:
        >>> draw_sizes("equal", clients=3, mean=40, seed=0)
        array([40, 40, 40])
        >>> int(draw_sizes("lognormal", clients=5, mean=40, seed=0).sum())
        200
    """
    if sizes == "equal":
        return np.full(clients, mean, dtype=np.int64)
    if sizes != "lognormal":
        return np.array(sizes, dtype=np.int64)
    logarithm = spread * stream(seed, Purpose.SIZES).standard_normal(clients)
    share = np.exp(logarithm - logarithm.max())  # minus the largest, so that nothing overflows
    return 1 + apportion(share / share.sum(), clients * (mean - 1))


def apportion(shares: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    """Returns whole numbers in proportion to shares, with an exact sum: the largest remainders are rounded up.

    Args:
        shares: Of the whole, shape (N,), float64, with the sum 1.
        total: The sum.

    Returns:
        Shape (N,), int64. Of equal remainders, the first are rounded up.

    Examples:
        >>> apportion(np.array([0.5, 0.26, 0.24]), total=10)
        array([5, 3, 2])
    """
    exact = shares * total
    whole = np.floor(exact).astype(np.int64)
    left = total - int(whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:left]] += 1
    return whole


def sizes_by_class(table: Mapping[str, Any]) -> Sizes:
    """Returns |D_i| as the settings say it, with what the classes of devices say in place of it.

    Args:
        table: Settings by section, with ``data`` and perhaps ``device``, the resolved classes.

    Returns:
        The setting `data.sizes` where no class says how many samples its clients have, or else a number for each
        client.

    Raises:
        ConfigError: A class says nothing, and there is no number for it; or `data.sizes` says something too.

    Examples:
        >>> data = {"sizes": "equal", "samples_per_client": 30}
        >>> sizes_by_class({"clients": 3, "data": data, "device": [{"share": 2, "samples": 9}, {"share": 1}]})
        [9, 9, 30]
    """
    data, devices = table["data"], table.get("device") or ()
    sizes: Sizes = data.get("sizes", "equal")  # runs of earlier versions have no sizes
    if not any(one.get("samples") for one in devices):
        return sizes
    if sizes != "equal":
        raise ConfigError(
            "data.sizes can't be together with device classes that state their samples; remove one of them."
        )
    numbers = [one.get("samples") or data["samples_per_client"] for one in devices]
    if 0 in numbers:
        silent = devices[numbers.index(0)]["name"]
        raise ConfigError(
            f"The device class '{silent}' states no samples and others do; state them too, or data.samples_per_client "
            "for those that don't."
        )
    members = classes_in(table)
    return [] if members is None else np.array(numbers)[members].tolist()
