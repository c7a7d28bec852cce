"""Why nobody trains in a run: said before it begins, where the mean harvest tells, and after its end."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # it takes pydantic and every energy model along
    from fallow.energy.physics import Physics


def foresee_no_training(physics: "Physics", means: NDArray[np.float64] | None, epochs: int) -> str | None:
    """Returns a sentence on a run in which no client can expect the energy of a training; None where one can.

    Args:
        physics: Of the run.
        means: The mean harvest of each client, units a slot, shape (N,), float64; None where it is not known.
        epochs: Of the run.

    Examples:
        >>> from fallow.energy.physics import Physics
        >>> physics = Physics(30, np.array([25, 25]), np.array(0), np.array(20), np.array(1))
        >>> print(foresee_no_training(physics, np.array([0.01, 0.01]), epochs=30))
        Note: a training starts with 20 units in the battery and its upload takes 1, but the mean client will harvest \
about 9 in 30 epochs: few will train, or none.
        >>> foresee_no_training(physics, np.array([0.01, 0.03]), epochs=30)
    """
    if physics.ideal or means is None:
        return None
    harvested = means * physics.slots_per_epoch * epochs
    if (physics.initial + harvested >= _needed(physics)).any():
        return None
    return (
        f"Note: {_say_needed(physics)}, but {_say_held(physics)}will harvest about {harvested.mean():.3g} in "
        f"{epochs:,} epochs: few will train, or none."
    )


def explain_no_training(settings: Mapping[str, Any], summary: Mapping[str, Any]) -> str | None:
    """Returns a sentence on why nobody trained in a finished run; None if somebody did.

    Args:
        settings: The resolved config, by section.
        summary: What summary.json holds.

    Examples:
        >>> from fallow.experiment import Experiment
        >>> settings = Experiment(clients=10, epochs=30, energy={"p": 0.01}).table()
        >>> summary = {"clients": 10, "epochs": 30, "harvested": 87, "selected": 0, "starts": 0}
        >>> print(explain_no_training(settings, summary))
        Nobody trained: a training starts with 20 units in the battery and its upload takes 1, and the mean client \
harvested 8.7 in 30 epochs. It takes more epochs, more harvest or a cheaper training.
    """
    if summary.get("starts", 1) > 0:
        return None
    from fallow.energy.physics import Physics  # only for those who ask why

    physics = Physics.of_settings(settings, probes=False, ideal=False)
    harvested = summary["harvested"] / summary["clients"]
    said = f"{_say_held(physics)}harvested {harvested:.3g} in {summary['epochs']:,} epochs"
    if physics.initial.mean() + harvested < _needed(physics).min():
        advice = "It takes more epochs, more harvest or a cheaper training."
        return f"Nobody trained: {_say_needed(physics)}, and {said}. {advice}"
    who = "no client that the policy selected had them in time" if summary["selected"] else "the policy selected nobody"
    return f"Nobody trained, although {said}: {_say_needed(physics)}, and {who}."


def _needed(physics: "Physics") -> NDArray[np.int32]:
    """Returns the level at which a client can start its first training, shape (N,), int32."""
    return physics.train_cost + physics.cutoff + physics.download_cost


def _say_needed(physics: "Physics") -> str:
    return (
        f"a training starts with {_range(_needed(physics))} units in the battery and its upload takes "
        f"{_range(physics.transmit_cost)}"
    )


def _say_held(physics: "Physics") -> str:
    held = physics.initial.mean()
    return f"the mean client has {held:.3g} at first and " if held else "the mean client "


def _range(units: NDArray[np.int32]) -> str:
    low, high = int(units.min()), int(units.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
