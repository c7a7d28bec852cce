"""Classes of devices: which clients belong to each, and its numbers as arrays over clients."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from fallow.arrays import per_client
from fallow.energy.groups import group_sizes
from fallow.errors import ConfigError

SECTION_KEYS: Final = {
    "battery": ("capacity", "initial", "efficiency", "self_discharge", "idle", "cutoff", "wake"),
    "cost": ("train", "train_slots", "transmit", "transmit_slots", "probe", "listen", "download"),
}
"""What a class may say in place of the sections battery and cost, under the same names."""

REAL: Final = ("efficiency", "self_discharge", "idle")
"""Those of them that are real numbers."""


def assign_classes(shares: Sequence[float], clients: int) -> NDArray[np.intp]:
    """Returns the class of each client, shape (N,), intp: contiguous blocks in the order of the shares.

    Args:
        shares: Of each class, at least one above 0; only their proportions count, and the largest remainders are
            rounded up.
        clients: N.

    Examples:
        >>> assign_classes([0.5, 0.3, 0.2], clients=7).tolist()
        [0, 0, 0, 0, 1, 1, 2]
    """
    return np.repeat(np.arange(len(shares)), group_sizes(shares, clients))


def classes_in(table: Mapping[str, Any]) -> NDArray[np.intp] | None:
    """Returns the class of each client in a table of settings, shape (N,), intp; None where there are no classes.

    Args:
        table: Settings by section, with ``clients`` and perhaps ``device``.
    """
    devices = table.get("device") or ()
    return assign_classes([one["share"] for one in devices], table["clients"]) if devices else None


def over_clients(table: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a table of settings in which the classes' numbers are arrays in the sections battery and cost.

    Args:
        table: Settings by section, with ``clients`` and perhaps ``device``, the resolved classes.

    Returns:
        The table itself where there are no classes. Else one in which what any class says is an array of shape (N,),
        int64 or float64; clients whose class is silent have what the section says.

    Examples:
        >>> table = {"clients": 3, "battery": {"capacity": 25}, "cost": {"train": 20}}
        >>> devices = [{"share": 2, "capacity": 90}, {"share": 1, "train": 5}]
        >>> spread = over_clients(table | {"device": devices})
        >>> spread["battery"]["capacity"].tolist(), spread["cost"]["train"].tolist()
        ([90, 90, 25], [20, 20, 5])
    """
    members = classes_in(table)
    if members is None:
        return dict(table)
    spread = dict(table)
    for section, keys in SECTION_KEYS.items():
        spread[section] = dict(table[section])
        for key in keys:
            said = {place: one[key] for place, one in enumerate(table["device"]) if one.get(key) is not None}
            if said:
                dtype = np.float64 if key in REAL else np.int64
                numbers = per_client(f"{section}.{key}", table[section].get(key, 0), members.size, dtype).copy()
                for place, value in said.items():
                    numbers[members == place] = value
                spread[section][key] = numbers
    return spread


def training_steps(table: Mapping[str, Any], train_slots: NDArray[np.int32]) -> NDArray[np.int32]:
    """Returns the batches of a training of each client, shape (N,), int32: what its class says, or else its slots.

    Args:
        table: Settings by section.
        train_slots: The slots of a training, shape (N,), int32.

    Examples:
        >>> training_steps({"clients": 2, "device": [{"share": 1, "steps": 20}, {"share": 1}]}, np.array([1, 2]))
        array([20,  2], dtype=int32)
    """
    members = classes_in(table)
    if members is None or not any(one.get("steps") for one in table["device"]):
        return train_slots
    steps = np.array(train_slots, dtype=np.int32)
    for place, one in enumerate(table["device"]):
        if one.get("steps"):
            steps[members == place] = one["steps"]
    return steps


def check_shares(names: Sequence[str], shares: Sequence[float], clients: int) -> None:
    """Raises `ConfigError` for shares that are all 0, or for a class that gets none of the clients.

    Args:
        names: Of the classes.
        shares: Of the classes, each at least 0.
        clients: N.
    """
    if not sum(shares) > 0:
        raise ConfigError(
            f"The shares of the device classes {', '.join(names)} are all 0; give at least one of them a share."
        )
    counts = np.bincount(assign_classes(shares, clients), minlength=len(shares))
    for name, share, count in zip(names, shares, counts, strict=True):
        if share and not count:
            raise ConfigError(
                f"The device class '{name}' with share = {share:g} of {sum(shares):g} gets none of the {clients} "
                "clients; raise its share or the clients, or remove it."
            )
