"""The harvest of a run in which classes of devices may have harvests of their own."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from fallow.energy.base import Harvest, Units
from fallow.energy.groups import group_seed, group_sizes, joined
from fallow.errors import EnergyError


class Prepare(Protocol):
    """Returns the harvest of some clients from a section energy: that of the run, or that of a class."""

    def __call__(self, place: int | None, seed: int, clients: int) -> Harvest:
        """Returns the harvest.

        Args:
            place: The place of the class whose section it is; None: that of the run.
            seed: Of the harvest.
            clients: How many clients it is for.
        """
        ...


def harvest_of_classes(table: Mapping[str, Any], prepare: Prepare) -> Harvest:
    """Returns the harvest of a run, a function of the epoch alone.

    Clients whose class has no harvest of its own have the same as without classes, to the byte. The harvest of a class
    has a seed of its own, a function of the run's seed and the place of the class.

    Args:
        table: Settings by section, with ``seed``, ``clients``, ``slots_per_epoch`` and perhaps ``device``.
        prepare: From a section energy to a harvest.

    Examples:
        >>> table = {"seed": 0, "clients": 3, "slots_per_epoch": 1}
        >>> table["device"] = [{"share": 2}, {"share": 1, "energy": {"model": "mine"}}]
        >>> def prepare(place, seed, clients):
        ...     return lambda epoch: np.full((1, clients), 5 if place == 1 else 0)
        >>> [slot.tolist() for slot in harvest_of_classes(table, prepare)(0)]
        [[0, 0, 5]]
    """
    devices, seed, clients = table.get("device") or (), table["seed"], table["clients"]
    if not any(device.get("energy") for device in devices):
        return prepare(None, seed, clients)
    sizes = group_sizes([device["share"] for device in devices], clients)
    blocks = [(place, size) for place, size in enumerate(sizes) if size]
    own = [
        prepare(place, group_seed(seed, place), size) if devices[place].get("energy") else None
        for place, size in blocks
    ]
    alone = [harvest for harvest in own if harvest is not None]
    if len(alone) == len(own):
        return joined(alone, clients, table["slots_per_epoch"])
    return _overlaid(prepare(None, seed, clients), own, [size for _, size in blocks])


def _overlaid(everyone: Harvest, own: Sequence[Harvest | None], sizes: Sequence[int]) -> Harvest:
    """Returns the harvest of everyone, in which some classes have their own; classes are blocks in their order."""
    ends = np.cumsum(sizes)[:-1]

    def harvest(epoch: int) -> Iterator[Units]:
        alone = [None if rows is None else iter(rows(epoch)) for rows in own]
        for units in everyone(epoch):
            blocks = zip(np.split(np.asarray(units), ends), alone, strict=True)
            yield np.concatenate([block if rows is None else _next_slot(rows) for block, rows in blocks])

    return harvest


def _next_slot(rows: Iterator[Units]) -> Units:
    units = next(rows, None)
    if units is None:
        raise EnergyError("The energy model of a device class gave fewer slots than an epoch has.")
    return units
