"""A guard before every rule: an update that moved far beyond what others sent, and beyond what came before, is refused.

Finite numbers can ruin a model as well as infinite ones: weights times 10³⁰ are finite, and so is the average of them
with others. The guard knows nothing of the data; it compares how far trainings moved the model, ‖w_i − w(its start)‖.
It is made for a device that is broken, not for a majority that agrees to lie.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fallow.aggregation.base import Update
from fallow.models.weights import Weights

SEEN = 64
"""How many of the last distances are remembered."""

Distances = NDArray[np.float64]


class Refusal(NamedTuple):
    """An update that the guard refused.

    Attributes:
        update: The update.
        distance: How far it moved the model.
        limit: How far it might have.
    """

    update: Update
    distance: float
    limit: float

    def in_words(self) -> str:
        """Returns why it was refused, without the name of its sender."""
        return (
            f"it moved the model by {self.distance:.3g}, and {self.limit:.3g} is the most that is accepted beside what "
            "others sent and what came before"
        )


class Sifted(NamedTuple):
    """What a guard makes of the updates of an epoch.

    Attributes:
        seen: The distances of the last updates that were accepted, the oldest first, shape (n,), float64.
        kept: The updates that are accepted, in the order given.
        refused: The others.
    """

    seen: Distances
    kept: list[Update]
    refused: list[Refusal]


@dataclass(frozen=True)
class Guard:
    """Refuses updates that moved the model much farther than others.

    An update may move it `factor` times as far as the median of the updates of other clients in the same epoch, or as
    the median of the last 64 that were accepted, whichever is farther; but the others vouch for no more than `factor`
    times what came before. Of two in the middle the median is the smaller. A move that is no longer than the model that
    it began with is never refused. Where there is nothing to compare with, that model stands in for the median; a model
    of zeros then sets no limit.

    Attributes:
        factor: How many times as far as the median; above 0.
    """

    factor: float

    def first(self) -> Distances:
        """Returns what has been seen before the first update: nothing."""
        return np.zeros(0)

    def sift(self, seen: Distances, updates: Sequence[Update]) -> Sifted:
        """Divides the updates of an epoch into those that are accepted and those that are not.

        Args:
            seen: The distances of updates before, shape (n,), float64.
            updates: All updates of the epoch, with finite weights.

        Examples:
            >>> w = np.ones(4, dtype=np.float32)  # its length is 2
            >>> updates = [Update(i, 0, w + step, w, data_size=1) for i, step in enumerate((1, 2, 100))]
            >>> seen, kept, refused = Guard(10.0).sift(np.zeros(0), updates)  # the moves are 2, 4 and 200
            >>> seen.tolist(), len(kept), refused[0].limit  # 200 is beyond ten times the median of 2 and 4
            ([2.0, 4.0], 2, 20.0)
        """
        moves = [_length(update.weights, update.start) for update in updates]
        kept, refused, accepted = [], [], []
        for update, move in zip(updates, moves, strict=True):
            others = [other for one, other in zip(updates, moves, strict=True) if one.client != update.client]
            limit = self._limit(_length(update.start), others, seen)
            if move <= limit:
                kept.append(update)
                accepted.append(move)
            else:
                refused.append(Refusal(update, move, limit))
        return Sifted(np.concatenate([seen, np.array(accepted)])[-SEEN:], kept, refused)

    def _limit(self, model: float, others: Sequence[float], seen: Distances) -> float:
        before, beside = _median(seen), _median(others)
        if before is None and beside is None:
            return self.factor * model if model else np.inf
        if before is not None:
            beside = before if beside is None else max(before, min(beside, self.factor * before))
        return max(model, self.factor * (beside or 0.0))


def _median(moves: Sequence[float] | Distances) -> float | None:
    return float(np.sort(moves)[(len(moves) - 1) // 2]) if len(moves) else None


def _length(weights: Weights, start: Weights | None = None) -> float:
    """Returns ‖weights − start‖, in float64: the square of the largest float32 has room there."""
    vector = weights.astype(np.float64) if start is None else np.subtract(weights, start, dtype=np.float64)
    return float(np.sqrt(np.square(vector).sum()))
