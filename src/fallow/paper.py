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
    """Returns Eq. (1): the global empirical risk f(w), the mean of the clients' risks.

    Args:
        local_risks: f_i(w), shape (N,), float64.

    Examples:
        >>> global_risk([1.0, 3.0])
        2.0
    """
    return float(np.mean(np.asarray(local_risks, dtype=np.float64)))


def next_version_age(X: Ages, distance: Floats, mu: float, q: Bools) -> Ages:
    """Returns Eq. (2) and Eq. (7): the version ages X(t+1) of the next epoch, shape (N,), int32.

    A client without a distance (NaN) does not age.

    Args:
        X: The version ages X(t), shape (N,), int32.
        distance: The distance between models for Eq. (2), or the feature distance M for Eq. (7), shape (N,), float32.
        mu: μ, the distance from which a change is significant.
        q: True for the clients that take part, shape (N,), bool.

    Examples:
        >>> next_version_age(np.array([4, 4, 4]), np.array([0.9, 0.1, 0.9]), 0.5, np.array([False, False, True]))
        array([5, 4, 0], dtype=int32)
    """
    X_next = X + (distance >= mu)
    X_next[q] = 0
    return np.asarray(X_next, dtype=np.int32)


def battery_after_slot(E: ArrayLike, T: ArrayLike, C: ArrayLike) -> NDArray[np.int64]:
    """Returns Eq. (3): the battery after a slot of rest or of transmission, shape (N,), int64.

    Args:
        E: Units stored before the slot, shape (N,), whole numbers.
        T: 1 for a client that transmits, 0 for one that rests, shape (N,), whole numbers.
        C: Units harvested in the slot, shape (N,), whole numbers.

    Examples:
        >>> battery_after_slot(E=[3, 3], T=[0, 1], C=[1, 0])
        array([4, 2])
    """
    return np.asarray(np.maximum(np.subtract(E, T), 0) + np.asarray(C), dtype=np.int64)


def battery_after_training(E: ArrayLike, kappa: ArrayLike, C: ArrayLike) -> NDArray[np.int64]:
    """Returns Eq. (4): the battery κ slots after a training began, shape (N,), int64.

    Args:
        E: Units stored when the training began, shape (N,), whole numbers.
        kappa: κ, the units of a training: one number, or one for each client.
        C: Units harvested in those slots, shape (κ, N), whole numbers.

    Examples:
        >>> battery_after_training(E=[5], kappa=2, C=[[1], [0]])
        array([4])
    """
    return np.asarray(np.maximum(np.subtract(E, kappa), 0) + np.sum(C, axis=0), dtype=np.int64)


def probe_mean(z: Floats) -> NDArray[np.float64]:
    """Returns v_i of Alg. 2, line 7: the mean feature of a probe batch, shape (F,), float64.

    Args:
        z: The features of the batch, shape (|B_i|, F), float32.
    """
    return np.asarray(z.mean(axis=0, dtype=np.float64))


def feature_distance(v: Floats, h: Floats) -> float:
    """Returns M_i of Eq. (5): the Euclidean distance between the probe mean and the historical moment.

    Args:
        v: The probe mean v_i, shape (F,), float32 or float64.
        h: The historical moment h_i, shape (F,), float32 or float64.

    Examples:
        >>> feature_distance(np.array([3.0, 0.0]), np.array([0.0, 4.0]))
        5.0
    """
    return float(np.linalg.norm(np.subtract(v, h, dtype=np.float64)))


def historical_moment(batches: Sequence[Floats]) -> NDArray[np.float64]:
    """Returns h_i of Eq. (6): the mean feature over the batches of one training, shape (F,), float64.

    One training is one pass over D_i (reading 9), so |D_i| is the number of rows.

    Args:
        batches: The features of each batch, shape (batch, F), float32.
    """
    return probe_mean(np.concatenate(batches))


def superposition_weights(data_sizes: ArrayLike) -> NDArray[np.float64]:
    """Returns β_i of Alg. 1, line 20: each data size as a share of their sum, shape of `data_sizes`, float64.

    Args:
        data_sizes: |D_i| of all clients, as the paper prints it, or of the updates received, as we read it (reading 1).

    Examples:
        >>> superposition_weights([100, 300])
        array([0.25, 0.75])
    """
    sizes = np.asarray(data_sizes, dtype=np.float64)
    return np.asarray(sizes / sizes.sum())


def selection_probabilities(X: Ages) -> NDArray[np.float64]:
    """Returns p_i = X_i / ΣX_j of Alg. 2, line 2, shape (N,), float64.

    Where every age is zero the paper's formula gives 0/0; here all probabilities are then equal (reading 5).

    Args:
        X: The version ages, shape (N,), int32.

    Examples:
        >>> selection_probabilities(np.array([1, 3]))
        array([0.25, 0.75])
    """
    total = int(X.sum(dtype=np.int64))
    return X / total if total else np.full(X.size, 1 / X.size)


def largest(score: NDArray[np.generic], k: int, tie: Floats) -> Bools:
    """Returns the k clients with the largest score (Alg. 2, line 3); among equals the smaller `tie` goes first.

    Args:
        score: Numbers, shape (N,). The age X_i will do, because p_i grows with X_i.
        k: How many clients to choose; all of them where k ≥ N.
        tie: Uniform random numbers, shape (N,), float64.

    Returns:
        True for the chosen clients, shape (N,), bool.

    Examples:
        >>> largest(np.array([5, 1, 5, 9]), k=2, tie=np.array([0.3, 0.1, 0.2, 0.4]))
        array([False, False,  True,  True])
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
    """Returns k clients drawn without replacement with weights p_i: Alg. 2, line 3, as sampling (reading 5).

    A race draws them: client i arrives at −ln(1−u_i)/X_i and the k earliest are taken. Clients of age zero are taken
    only when the others run out, in tie order.

    Args:
        X: The version ages, shape (N,), int32.
        k: How many clients to draw; all of them where k ≥ N.
        tie: The uniform random numbers u_i, shape (N,), float64.

    Returns:
        True for the drawn clients, shape (N,), bool.

    Examples:
        >>> sampled(np.array([0, 0, 7]), k=1, tie=np.array([0.3, 0.1, 0.2]))
        array([False, False,  True])
    """
    time_at_unit_speed = np.maximum(-np.log1p(-tie), 1e-300)  # u = 0 may not divide by zero
    return largest(X / time_at_unit_speed, k, tie)


def client_select(X: Ages, M: Floats, mu: float, k: int, tie: Floats) -> tuple[Bools, Ages]:
    """Returns the participants N(t), chosen by X(t), and the ages X(t+1) by Eq. (7): Algorithm 2.

    Args:
        X: The version ages X(t), shape (N,), int32.
        M: The feature distances, shape (N,), float32.
        mu: μ, the distance from which a change is significant.
        k: How many clients to choose.
        tie: Uniform random numbers that order clients of equal age, shape (N,), float64.

    Returns:
        True for the participants, shape (N,), bool, and X(t+1), shape (N,), int32.

    Examples:
        >>> client_select(np.array([2, 1]), np.array([0.9, 0.9]), mu=0.5, k=1, tie=np.array([0.3, 0.1]))
        (array([ True, False]), array([0, 2], dtype=int32))
    """
    selected = largest(X, k, tie)
    return selected, next_version_age(X, M, mu, selected)
