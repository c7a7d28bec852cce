"""The arithmetic that several policies share: who is ready, how long a training takes, how k are taken or drawn.

Where a policy needs something that is not known, the value is NaN; each policy says what it does then.
"""

import numpy as np
from numpy.typing import NDArray

from fallow.paper import largest
from fallow.policies.view import EpochView, Mask

Floats = NDArray[np.float64]


def idle(view: EpochView) -> Mask:
    """Returns the clients that are not in training and have nothing to send, shape (N,), bool.

    Args:
        view: The first slot of an epoch.
    """
    return np.asarray(~view.training & ~view.unsent)


def update_cost(view: EpochView) -> NDArray[np.int64]:
    """Returns κ_i + c_tx, the units of a training and of its upload, shape (N,), int64.

    Args:
        view: The first slot of an epoch.
    """
    return view.train_cost.astype(np.int64) + view.transmit_cost


def can_deliver(view: EpochView) -> Mask:
    """Returns the clients that are idle and have the energy to train and to send, shape (N,), bool.

    Args:
        view: The first slot of an epoch.
    """
    return np.asarray(idle(view) & (view.battery >= update_cost(view)))


def expected_slots(view: EpochView) -> Floats:
    """Returns how many slots pass until a client that is asked now has delivered, shape (N,), float64.

    That is t_i = (κ_i + c_tx − E_i)⁺ / p_i + κ_i + 1, where p_i is the mean harvest so far, and κ_i + 1 the slots of
    training and upload. It is infinite for a client that lacks energy and has harvested nothing yet.

    Args:
        view: The first slot of an epoch, with the mean harvest.
    """
    missing = np.maximum(update_cost(view) - view.battery, 0).astype(np.float64)
    wait = np.where(missing > 0, np.inf, 0.0)
    np.divide(missing, view.mean_harvest, out=wait, where=view.mean_harvest > 0)
    return np.asarray(wait + view.train_slots + view.transmit_slots)


def statistical_utility(view: EpochView) -> Floats:
    """Returns Oort's U_i = n_i · √(mean squared loss of the last training), shape (N,), float64; NaN if not known.

    Args:
        view: The first slot of an epoch, with the training losses and the data sizes.
    """
    loss = np.where(np.isfinite(view.training_loss), view.training_loss.astype(np.float64), np.nan)
    return np.asarray(view.data_size * loss)


def future_harvest(view: EpochView) -> Floats:
    """Returns the units forecast until the end of this epoch, of the next and so on, added up, shape (N, H), float64.

    A forecast that is NaN or negative counts as 0.

    Args:
        view: The first slot of an epoch, with the forecast.
    """
    return np.asarray(np.cumsum(np.fmax(view.forecast, 0.0), axis=1))


def best(score: Floats, k: int, tie: Floats, among: Mask) -> Mask:
    """Returns the k clients with the largest score; among equals the smaller `tie` goes first.

    Args:
        score: Shape (N,), float64, without NaN where `among` is True.
        k: How many to choose; all of `among` if there are no more.
        tie: Uniform random numbers, shape (N,), float64.
        among: The clients to choose from, shape (N,), bool.

    Returns:
        Shape (N,), bool.

    Examples:
        >>> best(np.array([3.0, 9.0, 7.0]), 1, np.zeros(3), among=np.array([True, False, True]))
        array([False, False,  True])
    """
    chosen = np.zeros(among.size, dtype=np.bool_)
    who = np.flatnonzero(among)
    if k > 0 and who.size:
        chosen[who] = largest(score[who], k, tie[who])
    return chosen


def drawn(weight: Floats, k: int, uniform: Floats, among: Mask) -> Mask:
    """Returns k clients drawn without replacement, each with a probability proportional to its weight.

    A race draws them, as in `fallow.paper.sampled`: client i arrives at −ln(1−u_i)/weight_i, and the k earliest are
    taken. Clients of weight 0 are taken only when the others run out, in the order of u_i.

    Args:
        weight: Shape (N,), float64, 0 or more where `among` is True.
        k: How many to draw; all of `among` if there are no more.
        uniform: The uniform random numbers u_i, shape (N,), float64.
        among: The clients to draw from, shape (N,), bool.

    Returns:
        Shape (N,), bool.

    Examples:
        >>> drawn(np.array([0.0, 5.0, 1.0]), 1, np.array([0.5, 0.5, 0.5]), among=np.ones(3, dtype=bool))
        array([False,  True, False])
    """
    time_at_unit_speed = np.maximum(-np.log1p(-uniform), 1e-300)  # u = 0 may not divide by zero
    return best(weight / time_at_unit_speed, k, uniform, among)
