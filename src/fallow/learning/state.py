"""The state of learning, and what it is made of; to read one nobody has to wait for PyTorch."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.models.weights import Weights


@dataclass(frozen=True, eq=False)
class Trained:
    """What came of a training.

    Attributes:
        client: Whose.
        slot: The global slot it started in.
        weights: w_i, shape (P,), float32.
        moment: h_i, the mean feature over the pass (Eq. 6), shape (F,), float32.
        loss: The mean loss over the pass.
        diverged_at: The step, from 0, whose loss was not finite or which left weights that are not; else None. The
            weights of a training that diverged are of no use.
    """

    client: int
    slot: int
    weights: Weights
    moment: NDArray[np.float32]
    loss: float
    diverged_at: int | None

    def fault(self) -> str | None:
        """Returns the sentence to show of a training that diverged; None of one that did not."""
        if self.diverged_at is None:
            return None
        return (
            f"The training of client {self.client} that started in slot {self.slot} diverged at step "
            f"{self.diverged_at}: its loss or weights are not finite numbers; lower the learning rate."
        )


@dataclass(frozen=True, eq=False)
class Scores:
    """What the test set says of a model.

    Attributes:
        f1: Macro F1, the mean over the classes (reading 12).
        accuracy: The share of samples that are classified rightly.
        loss: The mean cross-entropy.
        recall: The share of each class's samples that are found, shape (K,), float64; NaN for a class without any.
    """

    f1: float
    accuracy: float
    loss: float
    recall: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LearningState:
    """All that the next epochs of learning depend on.

    Attributes:
        weights: w(t), shape (P,), float32.
        moments: h_i, shape (N, F), float32, NaN for none.
        features: v_i under w(t), shape (N, F), float32; None until the new model is probed.
        held: What came of trainings whose update is not sent yet.
        local: The last models of clients that keep theirs, each of shape (P,), float32, by client.
        scores: Of w(t) on the test set; None until it is evaluated.
        aggregation: The memory of the aggregation rule.
    """

    weights: NDArray[np.float32]
    moments: NDArray[np.float32]
    features: NDArray[np.float32] | None
    held: tuple[Trained, ...]
    local: dict[int, NDArray[np.float32]]
    scores: Scores | None
    aggregation: Any
