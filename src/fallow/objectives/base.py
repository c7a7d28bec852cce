"""What a local objective is: the cross-entropy of logits that are shifted by what a client knows of its own labels.

Only local training sees the shift. The probe, the features and the evaluation use the logits as they are.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fallow.errors import ConfigError
from fallow.plugins.calls import call


class Objective(Protocol):
    """What a client minimises. A frozen dataclass whose fields are its options."""

    def offset(self, counts: NDArray[np.int64]) -> NDArray[np.float32] | None:
        """Returns what is added to a client's logits in the loss, shape (K,), float32; None adds nothing.

        Args:
            counts: The client's samples of each class, shape (K,), int64; at least one in all. Minus infinity, for a
                class that the client does not have, leaves that class out of the client's loss.
        """
        ...


def logit_offsets(
    objective: Objective,
    labels: NDArray[np.int64],
    shards: Sequence[NDArray[np.int64]] | NDArray[np.int64],
    classes: int,
) -> list[NDArray[np.float32] | None]:
    """Returns what each client adds to its logits in the loss, shape (K,), float32; None adds nothing.

    Args:
        objective: What clients minimise.
        labels: The labels of the training set, shape (S,), int64.
        shards: Each client's samples, as indices into the training set.
        classes: K.

    Raises:
        ConfigError: The objective returned something else than K numbers that a loss can use.

    Examples:
        >>> from fallow.objectives import BalancedSoftmax
        >>> offsets = logit_offsets(BalancedSoftmax(), np.array([0, 0, 1, 1]), [np.array([0, 1, 2, 3])], classes=2)
        >>> offsets[0]
        array([-0.6931472, -0.6931472], dtype=float32)
    """
    offsets = []
    for client, shard in enumerate(shards):
        counts = np.bincount(labels[shard], minlength=classes)
        offset = call(f"The objective '{type(objective).__name__}'", "offset", objective.offset, counts.copy())
        if offset is not None:
            _check(objective, client, offset, counts)
        offsets.append(offset)
    if all(offset is None for offset in offsets):
        return offsets
    # Clients that train together are all shifted, or none is.
    return [np.zeros(classes, dtype=np.float32) if offset is None else offset for offset in offsets]


def _check(objective: Objective, client: int, offset: object, counts: NDArray[np.int64]) -> None:
    what = f"The objective {objective} gave client {client}"
    if isinstance(offset, np.ma.MaskedArray):
        raise ConfigError(f"{what} a masked array, whose mask would be lost; return it filled: array.filled(…).")
    if not isinstance(offset, np.ndarray) or offset.shape != counts.shape or offset.dtype != np.float32:
        shape, dtype = (offset.shape, offset.dtype) if isinstance(offset, np.ndarray) else ((), type(offset).__name__)
        raise ConfigError(
            f"{what} an answer of shape {shape} and type {dtype}; it must give {counts.size} numbers, one a class, as "
            "float32."
        )
    if not np.isfinite(offset[counts > 0]).all() or np.isnan(offset).any() or np.isposinf(offset).any():
        raise ConfigError(
            f"{what} the numbers {offset.tolist()}; they must be finite for the classes that the client has, and "
            "finite or minus infinity for the others."
        )
