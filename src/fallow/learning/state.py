"""The state of learning, and its parts; this module does not import PyTorch, which is slow to load."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.learning.start_models import StartModels
from fallow.models.weights import Weights

DIVERGED = "diverged at step"
"""In the sentence of a training that diverged, and of no other."""


@dataclass(frozen=True, eq=False)
class Trained:
    """The result of a training.

    Attributes:
        client: The client that trained.
        slot: The global slot in which the training started.
        weights: w_i, shape (P,), float32.
        moment: h_i, the mean feature over the pass (Eq. 6), shape (F,), float32.
        loss: The mean loss over the pass.
        diverged_at: The first step, from 0, whose loss or weights were not finite; None if all were. The weights of a
            training that diverged can't be used.
        rms_loss: The root mean square of the samples' losses over the pass; NaN where nobody measured it.
    """

    client: int
    slot: int
    weights: Weights
    moment: NDArray[np.float32]
    loss: float
    diverged_at: int | None
    rms_loss: float = math.nan

    def fault(self, name: str = "") -> str | None:
        """Returns the error sentence of a training that diverged; None if it did not.

        Args:
            name: Of the client; empty: its number.
        """
        if self.diverged_at is None:
            return None
        return (
            f"The training of {name or f'client {self.client}'} that started in slot {self.slot} {DIVERGED} "
            f"{self.diverged_at}: its loss or weights are not finite numbers; lower the learning rate."
        )


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of a model on the test set.

    Attributes:
        f1: Macro F1, the mean over the classes (reading 12).
        accuracy: The share of samples that are classified correctly.
        loss: The mean cross-entropy.
        recall: The same share for each class, shape (K,), float64; NaN for a class without samples.
    """

    f1: float
    accuracy: float
    loss: float
    recall: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ClientScores:
    """The scores of one model on each client's own samples.

    Attributes:
        loss: The mean cross-entropy over a client's samples, shape (N,), float64; NaN for a client without samples.
        accuracy: The share of them that are classified correctly, shape (N,), float64; NaN in the same cases.
    """

    loss: NDArray[np.float64]
    accuracy: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LearningState:
    """Everything that the next epochs of learning depend on.

    Attributes:
        weights: w(t), shape (P,), float32.
        moments: h_i, shape (N, F), float32, NaN for none.
        features: v_i under w(t), shape (N, F), float32; None until the new model is probed.
        probe_losses: The mean loss of each probe batch, shape (N,), float32; None where it is not measured.
        held: The results of trainings whose update is not sent yet.
        starts: The models that these trainings began with.
        local: The last model of each client that keeps it, shape (P,), float32, by client.
        statistics: The running statistics of each client that keeps its own, shape (P − T,), float32, by client.
        losses: The root mean square of the samples' losses in each client's last training, shape (N,), float32; NaN
            for a client that finished none.
        mean_weights: The running mean of the iterates, shape (P,), float32; None where none is kept.
        seen: How far the updates before moved the model, for the guard, shape (n,), float64; None without a guard.
        scores: The scores of the model that is handed out; None until it is evaluated.
        aggregation: The memory of the aggregation rule.
    """

    weights: NDArray[np.float32]
    moments: NDArray[np.float32]
    features: NDArray[np.float32] | None
    probe_losses: NDArray[np.float32] | None
    held: tuple[Trained, ...]
    starts: StartModels
    local: dict[int, NDArray[np.float32]]
    statistics: dict[int, NDArray[np.float32]]
    losses: NDArray[np.float32]
    mean_weights: NDArray[np.float32] | None
    seen: NDArray[np.float64] | None
    scores: Scores | None
    aggregation: Any
