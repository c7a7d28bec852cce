"""What good and bad spells promise: the expected harvest given the state now, and its error, in closed form."""

import numpy as np
from numpy.typing import NDArray

from fallow.energy.outlook import Outlook, window_slots
from fallow.energy.spells import SpellLaw


def spell_outlook(law: SpellLaw, units: tuple[float, float], slots_per_epoch: int, epochs: int) -> Outlook:
    """Returns what is expected of a client that is in a bad (row 0) or good (row 1) spell in an epoch's first slot.

    With ρ = 1 − r, a slot u slots later is good with probability p_u = π + ρᵘ(state − π). The states of the slots u ≤ v
    have the covariance ρ^(v−u) · p_u(1 − p_u).

    Args:
        law: How long spells last.
        units: Mean units a slot in a bad and in a good spell, each the whole part and by chance one more.
        slots_per_epoch: S.
        epochs: H.

    Returns:
        The two rows, each array of shape (2, H), float64.

    Examples:
        >>> outlook = spell_outlook(SpellLaw(good=4.0, bad=4.0), (0.0, 1.0), slots_per_epoch=2, epochs=1)
        >>> outlook.units.tolist(), outlook.error.round(4).tolist()
        ([[0.25], [0.75]], [[0.433], [0.433]])
    """
    keep = 1 - law.refresh
    bad, good = units
    noise_bad, noise_good = ((part % 1) * (1 - part % 1) for part in units)
    expected, variance = np.zeros((2, 2, epochs))
    first = 1
    for column, slots in enumerate(window_slots(epochs, slots_per_epoch).tolist()):
        later = np.arange(slots)
        after = _sum_of_powers(keep, slots - 1 - later)  # ρ + ρ² + … over the slots of the window that follow
        for state in (0, 1):
            p = law.share + keep ** (first + later) * (state - law.share)
            expected[state, column] = (bad + (good - bad) * p).sum()
            of_states = (p * (1 - p) * (1 + 2 * after)).sum() * (good - bad) ** 2
            variance[state, column] = of_states + (p * noise_good + (1 - p) * noise_bad).sum()
        first += slots
    return Outlook(expected, np.sqrt(np.maximum(variance, 0.0)))


def _sum_of_powers(base: float, count: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns base + base² + … of so many terms, shape as `count`, float64; `base` is below 1."""
    return np.asarray(base * (1 - base**count) / (1 - base))
