"""Groups of clients in one run: how many each has, where each one's chance comes from, and all of them joined."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from fallow.energy.base import CELLS_AT_ONCE, Harvest, Units
from fallow.rng import Purpose, stream


def group_sizes(shares: Sequence[float], clients: int) -> list[int]:
    """Returns how many clients each group has, by largest remainder; of equal remainders the first group's counts.

    Args:
        shares: Of the groups, 0 or more; they need not sum to 1.
        clients: N.

    Examples:
        >>> group_sizes([0.5, 0.25, 0.25], clients=10)
        [5, 3, 2]
    """
    quotas = [share * clients / sum(shares) for share in shares]
    sizes = [int(quota + 1e-9) for quota in quotas]  # 0.3 · 10 is 3, whatever a double makes of it
    largest_first = sorted(range(len(shares)), key=lambda group: (round(sizes[group] - quotas[group], 9), group))
    for group in largest_first[: clients - sum(sizes)]:
        sizes[group] += 1
    return sizes


def group_seed(seed: int, group: int) -> int:
    """Returns the seed of a group, so that two groups with the same model do not harvest alike.

    Args:
        seed: The seed of the run.
        group: The number of the group, from 0.

    Examples:
        >>> group_seed(0, 0) != group_seed(0, 1)
        True
    """
    return int(stream(seed, Purpose.GROUP, group).bit_generator.random_raw()) >> 1


def joined(harvests: Sequence[Harvest], clients: int, slots_per_epoch: int) -> Harvest:
    """Returns the harvest of several groups as one: the clients of the first group, then those of the next.

    Args:
        harvests: One for each group that has clients.
        clients: N, of all groups.
        slots_per_epoch: S.

    Examples:
        >>> harvest = joined([lambda epoch: np.ones((1, 2), int), lambda epoch: np.zeros((1, 1), int)], 3, 1)
        >>> np.array(list(harvest(0))).tolist()
        [[1, 1, 0]]
    """

    def harvest(epoch: int) -> Iterable[Units]:
        groups = [own(epoch) for own in harvests]
        if slots_per_epoch * clients <= CELLS_AT_ONCE and all(isinstance(units, np.ndarray) for units in groups):
            return np.concatenate([np.asarray(units) for units in groups], axis=1)
        return in_rows(groups)

    def in_rows(groups: Sequence[Iterable[Units]]) -> Iterator[Units]:
        for rows in zip(*groups, strict=True):
            yield np.concatenate(rows)

    return harvest
