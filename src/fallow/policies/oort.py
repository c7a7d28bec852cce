"""Oort: clients that learn most in the least time, and some that were never tried.

Source: F. Lai et al., "Oort: Efficient Federated Learning via Guided Participant Selection", OSDI 2021, as its code has
it (github.com/SymbioticLab/Oort, oort/oort.py), with FedScale's defaults.
"""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from fallow.policies.base import EpochView, Mask, Needs
from fallow.policies.scoring import Floats, best, drawn, expected_slots, idle, statistical_utility
from fallow.policies.vaoi import K

CLIP_QUANTILE = 0.9
CUT_OFF = 0.05
FIRST_PERCENTILE = 30.0
PERCENTILE_STEP = 5.0
SAMPLE_WINDOW = 5
UNCERTAINTY = 0.1

ExplorationShare = Annotated[float, Field(ge=0, le=1, description="ε: share of the k for the never tried, at first")]
Decay = Annotated[float, Field(gt=0, le=1, description="factor on ε each epoch")]
LeastExploration = Annotated[float, Field(ge=0, le=1, description="where ε stops falling while someone is untried")]
Penalty = Annotated[float, Field(ge=0, description="exponent of the penalty of a client that takes longer than T")]
Pace = Annotated[int, Field(ge=1, description="epochs after which the preferred duration T is thought over")]


@dataclass(frozen=True)
class Guide:
    """The memory of Oort.

    Attributes:
        epsilon: ε, the share of the k that went to clients never tried.
        percentile: Which percentile of the expected durations is T, from 5 to 100.
        utility_before: The mean utility of the exploited clients, summed over the last whole stretch of `pace` epochs.
        utility_now: The same over the stretch that goes on.
        exploited: Who was exploited in the epoch before, shape (N,), bool.
    """

    epsilon: float
    percentile: float
    utility_before: float
    utility_now: float
    exploited: Mask


@dataclass(frozen=True)
class Oort:
    """Clients with much loss and little delay, drawn by score, and some that were never tried.

    Score: U_i (n_i times the root mean square loss of the last training; clipped, normalised) + √(0.1 ln r / L_i),
    times (T / t_i)^penalty if t_i > T. r and L_i count epochs from 1: now, and when i last delivered. t_i is the
    expected duration under harvesting, T a percentile of all t_i. A client is explored once it has delivered and its
    loss is known.

    Attributes:
        k: How many clients are selected in an epoch.
        exploration: ε at first, the share of the k for clients never tried.
        decay: The factor on ε each epoch.
        least_exploration: Where ε stops falling while anyone is untried.
        penalty: The exponent of the penalty of slow clients.
        pace: After how many epochs the preferred duration T is thought over.

    Examples:
        >>> from fallow.policies.check import check_policy
        >>> check_policy(Oort(k=5))
        []
    """

    k: K = 10
    exploration: ExplorationShare = 0.9
    decay: Decay = 0.98
    least_exploration: LeastExploration = 0.3
    penalty: Penalty = 2.0
    pace: Pace = 20

    @property
    def needs(self) -> Needs:
        """The loss of the last training, the data sizes, who delivered when, and the mean harvest."""
        return Needs(training_loss=True, data_size=True, participation=True, mean_harvest=True)

    def init(self, clients: int) -> Guide:
        """Returns the first memory: nobody was tried."""
        return Guide(self.exploration, FIRST_PERCENTILE, 0.0, 0.0, np.zeros(clients, dtype=np.bool_))

    def select(self, state: Guide, view: EpochView, rng: np.random.Generator) -> tuple[Guide, Mask]:
        """Returns the memory and at most k clients: exploited, explored, and drawn at random if places are left."""
        return select_guided(self, state, view, rng, energy_weight=0.0)


def select_guided(
    oort: Oort, state: Guide, view: EpochView, rng: np.random.Generator, energy_weight: float
) -> tuple[Guide, Mask]:
    """Returns Oort's memory and choice, with the energy left as a part of the utility (EAFL).

    Args:
        oort: The options.
        state: The memory.
        view: What the policy sees.
        rng: The random numbers of this epoch.
        energy_weight: The share of the energy left in the utility; 0 is Oort.

    Returns:
        The memory, and True for the clients that take part, shape (N,), bool.
    """
    for_exploited, for_explored, for_the_rest = rng.random((3, view.clients))
    available = idle(view)  # ours: a client that is busy can't be asked, so it is not among Oort's feasible ones
    utility = statistical_utility(view)
    explored = np.isfinite(utility) & (view.deliveries > 0)
    utility = np.where(explored, utility, 0.0)
    percentile, before, now = _paced(oort, state, view, utility, explored)
    speed = _speed(expected_slots(view), percentile, oort.penalty)  # ours: the duration under harvesting
    energy = view.battery / np.maximum(view.capacity, 1)

    known = available & explored
    epsilon = max(state.epsilon * oort.decay, oort.least_exploration if state.epsilon > 0 else 0.0)
    places = min(int(oort.k * (1.0 - epsilon)), int(np.count_nonzero(known)))
    value = (1.0 - energy_weight) * _normalised(utility, known) + energy_weight * energy
    score = (value + _uncertainty(view)) * speed
    exploited = drawn(score, places, for_exploited, known & (score >= _cut_off(score[known], places)))

    new = available & ~explored
    places = min(oort.k - int(np.count_nonzero(exploited)), int(np.count_nonzero(new)))
    size = view.data_size / max(int(view.data_size.max()), 1)
    promise = ((1.0 - energy_weight) * size + energy_weight * energy) * speed
    window = best(promise, SAMPLE_WINDOW * places, for_the_rest, new)
    chosen = exploited | drawn(promise, places, for_explored, window)

    left = oort.k - int(np.count_nonzero(chosen))
    chosen |= drawn(np.ones(view.clients), left, for_the_rest, available & ~chosen)
    if explored.all():
        epsilon = 0.0  # nobody is left to explore
    return Guide(epsilon, percentile, before, now, exploited), chosen


def _paced(oort: Oort, state: Guide, view: EpochView, utility: Floats, explored: Mask) -> tuple[float, float, float]:
    """Returns the percentile of T, and the summed utilities of the last whole stretch and of the one that goes on."""
    brought = state.exploited & view.delivered & explored
    now = state.utility_now + float(utility[brought].sum()) / max(int(np.count_nonzero(brought)), 1)
    before, percentile, epoch = state.utility_before, state.percentile, view.epoch + 1
    if epoch % oort.pace:
        return percentile, before, now
    if epoch >= 2 * oort.pace:
        change = abs(now - before)
        if change <= 0.1 * before:
            percentile = min(100.0, percentile + PERCENTILE_STEP)
        elif change >= 5 * before:
            percentile = max(PERCENTILE_STEP, percentile - PERCENTILE_STEP)
    return percentile, now, 0.0


def _speed(duration: Floats, percentile: float, penalty: float) -> Floats:
    """Returns 1 for a client that takes no longer than T, and (T / t_i)^penalty for the others, shape (N,), float64."""
    place = min(int(duration.size * percentile / 100.0), duration.size - 1)
    preferred = np.inf if percentile >= 100.0 else np.sort(duration)[place]
    speed = np.ones(duration.size)
    slow = duration > preferred
    speed[slow] = (preferred / duration[slow]) ** penalty
    return speed


def _normalised(utility: Floats, known: Mask) -> Floats:
    """Returns the utilities of `known`, clipped at a quantile and scaled to 0…1, shape (N,), float64; else 0."""
    ordered = np.sort(utility[known])
    if not ordered.size:
        return np.zeros_like(utility)
    clip = ordered[min(int(ordered.size * CLIP_QUANTILE), ordered.size - 1)]
    least = 0.999 * ordered[0]
    spread = max(ordered[-1] - least, 1e-4)
    return np.where(known, (np.minimum(utility, clip) - least) / spread, 0.0)


def _uncertainty(view: EpochView) -> Floats:
    """Returns √(0.1 ln r / L_i): more for a client that was heard of long ago, shape (N,), float64."""
    last = np.maximum(view.last_delivered.astype(np.float64) + 1, 1)
    return np.asarray(np.sqrt(UNCERTAINTY * math.log(view.epoch + 1) / last))


def _cut_off(scores: Floats, places: int) -> float:
    """Returns the least score that may be drawn: a share of the best score that gets no place."""
    if not scores.size:
        return 0.0
    return CUT_OFF * float(np.sort(scores)[::-1][min(places, scores.size - 1)])
