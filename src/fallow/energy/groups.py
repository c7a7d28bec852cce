"""Several harvests in one run: groups of clients, each with an energy model of its own."""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from fallow.energy.base import Harvest, Units, checked_units
from fallow.errors import EnergyError
from fallow.rng import MAX_SEED

Members = NDArray[np.intp]
"""The numbers of a group's clients, shape (members,), intp."""


def group_seed(seed: int, group: int) -> int:
    """Returns the seed of a group's harvest: a function of (seed, group) alone.

    Args:
        seed: The seed of the run.
        group: The number of the group, from 0.

    Examples:
        >>> group_seed(0, 1) == group_seed(0, 1), group_seed(0, 1) == group_seed(1, 0)
        (True, False)
    """
    return int.from_bytes(sha256(f"group {group} of {seed}".encode()).digest()[:8], "little") % (MAX_SEED + 1)


def grouped(harvests: Sequence[Harvest], members: Sequence[Members], slots_per_epoch: int) -> Harvest:
    """Returns the harvest of all clients, each from the group that it belongs to.

    Args:
        harvests: Of each group, for its own clients alone.
        members: The clients of each group, in the order of its harvest's columns; together each client once.
        slots_per_epoch: S.

    Examples:
        >>> one, two = (lambda epoch: np.ones((2, 2), dtype=np.int32)), (lambda epoch: np.full((2, 1), 5))
        >>> harvest = grouped([one, two], [np.array([0, 2]), np.array([1])], slots_per_epoch=2)
        >>> [slot.tolist() for slot in harvest(0)]
        [[1, 5, 1], [1, 5, 1]]
    """
    clients = sum(who.size for who in members)

    def harvest(epoch: int) -> Iterable[Units]:
        every = [iter(own(epoch)) for own in harvests]
        for _ in range(slots_per_epoch):
            units = np.empty(clients, dtype=np.int32)
            for rows, who in zip(every, members, strict=True):
                units[who] = _next_row(rows, who.size, slots_per_epoch)
            yield units
        if any(next(rows, None) is not None for rows in every):
            raise EnergyError(f"An energy model gave more than the {slots_per_epoch} slots of an epoch.")

    return harvest


def of_members(harvest: Harvest, who: Members) -> Harvest:
    """Returns the harvest of some of the clients.

    Args:
        harvest: Of all of them.
        who: Which.

    Examples:
        >>> own = of_members(lambda epoch: np.array([[1, 2, 3]]), np.array([2, 0]))
        >>> [slot.tolist() for slot in own(0)]
        [[3, 1]]
    """

    def own(epoch: int) -> Iterator[Units]:
        for units in harvest(epoch):
            yield np.asarray(units)[who]

    return own


def _next_row(rows: Iterator[Units], members: int, slots: int) -> NDArray[np.int32]:
    """Returns the next slot of a group, checked here: the sum of the groups would hide what is wrong with one."""
    units = next(rows, None)
    if units is None:
        raise EnergyError(f"An energy model gave fewer than the {slots} slots of an epoch.")
    row: NDArray[np.int32] = checked_units(np.asarray(units)[None], members)[0]
    return row
