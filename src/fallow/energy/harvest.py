"""The one door from an energy model to the units of a run: its scale, its shared weather and its mean."""

from fallow.energy.base import Correlated, EnergyModel, Harvest, Rescaled, Scaled
from fallow.energy.scale import Scale
from fallow.errors import ConfigError


def prepare_harvest(
    model: EnergyModel,
    *,
    seed: int,
    clients: int,
    slots_per_epoch: int,
    scale: Scale = Scale(),  # noqa: B008 - it is frozen
    correlation: float = 0.0,
    mean: float = 0.0,
) -> Harvest:
    """Returns the harvest of a run, a function of the epoch alone.

    Args:
        model: The energy model, as the config or the user gave it.
        seed: The seed of the run.
        clients: N.
        slots_per_epoch: S.
        scale: The length of a slot and the energy of a unit, for sources in watts.
        correlation: How much of the weather clients share, from 0 to 1.
        mean: Mean units a slot to which the model is scaled; 0 leaves it as it is.

    Raises:
        ConfigError: The model can't be scaled, or has no weather to share.

    Examples:
        >>> from fallow.energy import Bernoulli
        >>> harvest = prepare_harvest(Bernoulli(p=0.1), seed=0, clients=2, slots_per_epoch=3, mean=1.0)
        >>> [slot.tolist() for slot in harvest(0)]
        [[True, True], [True, True], [True, True]]
    """
    name = type(model).__name__
    if isinstance(model, Scaled):
        model = model.at_scale(scale)
    if mean:
        if not isinstance(model, Rescaled):
            raise ConfigError(
                f"energy.mean = {mean:g} can't be had of {name}, which does not know its mean; remove it."
            )
        model = model.with_mean(mean)
    if correlation:
        if not isinstance(model, Correlated):
            raise ConfigError(
                f"energy.correlation = {correlation:g} is for models in which chance decides, and {name} is none, or "
                "can't share it; set it to 0."
            )
        model = model.correlated(correlation)
    return model.prepare(seed, clients, slots_per_epoch)
