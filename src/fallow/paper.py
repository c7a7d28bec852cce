"""The paper's equations and Algorithm 2, one small pure function each.

Legend: N clients, F features, E battery, C harvested units, T transmission decision, kappa (κ) units and slots of a
training, X version age, M feature distance, mu (μ) age threshold, q participation, z features, h historical moment.
``docs/paper-map.md`` says where each is used and which test pins it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

PAPER_MU = 0.5
"""μ: the distance between features from which the paper calls a change of the model significant."""

Ages = NDArray[np.int32]
Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]


def global_risk(local_risks: ArrayLike) -> float:
    """Eq. (1): the global empirical risk f(w), the mean of the clients' risks f_i(w), shape (N,)."""
    return float(np.mean(np.asarray(local_risks, dtype=np.float64)))


def next_version_age(X: Ages, distance: Floats, mu: float, q: Bools) -> Ages:
    """Eq. (2) and Eq. (7): the version ages of the next epoch, shape (N,).

    Eq. (2) takes the distance between models, Eq. (7) the feature distance M; q is 1 for the clients that take
    part. A client without a distance (NaN) does not age.
    """
    X_next = X + (distance >= mu)
    X_next[q] = 0
    return np.asarray(X_next, dtype=np.int32)


def battery_after_slot(E: ArrayLike, T: ArrayLike, C: ArrayLike) -> NDArray[np.int64]:
    """Eq. (3): the battery after a slot of rest (T = 0) or transmission (T = 1)."""
    return np.asarray(np.maximum(np.subtract(E, T), 0) + np.asarray(C), dtype=np.int64)


def battery_after_training(E: ArrayLike, kappa: ArrayLike, C: ArrayLike) -> NDArray[np.int64]:
    """Eq. (4): the battery κ slots after a training began; C holds the harvest of those slots, shape (κ, …)."""
    return np.asarray(np.maximum(np.subtract(E, kappa), 0) + np.sum(C, axis=0), dtype=np.int64)


def probe_mean(z: Floats) -> NDArray[np.float64]:
    """Alg. 2, line 7: v_i, the mean feature of a probe batch; z has shape (|B_i|, F)."""
    return np.asarray(z.mean(axis=0, dtype=np.float64))


def feature_distance(v: Floats, h: Floats) -> float:
    """Eq. (5): M_i, the Euclidean distance between the probe mean v_i and the historical moment h_i, shape (F,)."""
    return float(np.linalg.norm(np.subtract(v, h, dtype=np.float64)))


def historical_moment(batches: Sequence[Floats]) -> NDArray[np.float64]:
    """Eq. (6): h_i, the mean feature over the batches of one training, each of shape (batch, F).

    One training is one pass over D_i (reading 9), so |D_i| is the number of rows.
    """
    return probe_mean(np.concatenate(batches))


def superposition_weights(data_sizes: ArrayLike) -> NDArray[np.float64]:
    """Alg. 1, line 20: β_i over all clients, as printed; over the updates received, as we read it (reading 1)."""
    sizes = np.asarray(data_sizes, dtype=np.float64)
    return np.asarray(sizes / sizes.sum())


def selection_probabilities(X: Ages) -> NDArray[np.float64]:
    """Alg. 2, line 2: p_i = X_i / ΣX_j. Where every age is zero the print gives 0/0; all are equal (reading 5)."""
    total = int(X.sum(dtype=np.int64))
    return X / total if total else np.full(X.size, 1 / X.size)


def largest(score: NDArray[np.generic], k: int, tie: Floats) -> Bools:
    """Alg. 2, line 3: the k clients with the largest score; among equals the smaller `tie` goes first.

    Args:
        score: Shape (N,); p_i grows with X_i, so the age itself serves.
        k: How many; all of them where k ≥ N.
        tie: Uniform numbers, shape (N,).

    Returns:
        Shape (N,), bool.
    """
    if k >= score.size:
        return np.ones(score.size, dtype=np.bool_)
    cut = np.partition(score, score.size - k)[score.size - k]
    chosen = np.asarray(score > cut)
    level = np.flatnonzero(score == cut)
    room = k - int(np.count_nonzero(chosen))
    chosen[level[np.argpartition(tie[level], room - 1)[:room]]] = True
    return chosen


def sampled(X: Ages, k: int, tie: Floats) -> Bools:
    """Alg. 2, line 3, read as sampling (reading 5): k clients without replacement with weights p_i, shape (N,).

    A race draws them: client i arrives at −ln(1−u_i)/X_i and the k earliest are taken. Clients of age zero are taken
    only when the others run out, in tie order.
    """
    time_at_unit_speed = np.maximum(-np.log1p(-tie), 1e-300)  # u = 0 may not divide by zero
    return largest(X / time_at_unit_speed, k, tie)


def client_select(X: Ages, M: Floats, mu: float, k: int, tie: Floats) -> tuple[Bools, Ages]:
    """Algorithm 2: the participants N(t), chosen by X(t), and the ages X(t+1) by Eq. (7); q is 1 when selected."""
    selected = largest(X, k, tie)
    return selected, next_version_age(X, M, mu, selected)
