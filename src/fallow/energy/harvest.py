"""The one door from an energy model to the units of a run: its scale, its shared weather, its mean and its forecast."""

from fallow.energy.base import Averaged, Correlated, EnergyModel, Harvest, Rescaled, Scaled
from fallow.energy.fractions import Rescaling
from fallow.energy.outlook import EpochForecast, Forecasting
from fallow.energy.own import prepared, prepared_forecast
from fallow.energy.scale import Scale
from fallow.energy.weather import Weathered
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
    weather: int | None = None,
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
        weather: The seed of the shared weather, for groups with seeds of their own under one sky; None is `seed`.

    Raises:
        ConfigError: The model can't be scaled, or has no weather to share.

    Examples:
        >>> from fallow.energy import Bernoulli
        >>> harvest = prepare_harvest(Bernoulli(p=0.1), seed=0, clients=2, slots_per_epoch=3, mean=1.0)
        >>> [slot.tolist() for slot in harvest(0)]
        [[True, True], [True, True], [True, True]]
    """
    ready = settled(model, scale=scale, correlation=correlation, mean=mean, weather=weather)
    return prepared(ready, seed, clients, slots_per_epoch)


def prepare_forecast(
    model: EnergyModel,
    *,
    seed: int,
    clients: int,
    slots_per_epoch: int,
    scale: Scale = Scale(),  # noqa: B008 - it is frozen
    correlation: float = 0.0,
    mean: float = 0.0,
    weather: int | None = None,
) -> EpochForecast:
    """Returns the model's own forecast of the harvest that `prepare_harvest` returns for the same arguments.

    Args:
        model: The energy model, as the config or the user gave it.
        seed: The seed of the run.
        clients: N.
        slots_per_epoch: S.
        scale: The length of a slot and the energy of a unit, for sources in watts.
        correlation: How much of the weather clients share, from 0 to 1.
        mean: Mean units a slot to which the model is scaled; 0 leaves it as it is.
        weather: The seed of the shared weather; None is `seed`.

    Raises:
        ConfigError: The model has no forecast, or `prepare_harvest` would raise an error.

    Examples:
        >>> from fallow.energy import Bernoulli
        >>> forecast = prepare_forecast(Bernoulli(p=0.5), seed=0, clients=1, slots_per_epoch=30)
        >>> forecast(7, 2).units.tolist()  # the 29 slots that are left, and the 30 of the next epoch
        [[14.5, 15.0]]
    """
    ready = settled(model, scale=scale, correlation=correlation, mean=mean, weather=weather)
    return settled_forecast(ready, seed, clients, slots_per_epoch)


def settled(
    model: EnergyModel, *, scale: Scale, correlation: float, mean: float, weather: int | None = None
) -> EnergyModel:
    """Returns the model as a run uses it: in units, with its mean and its weather.

    Args:
        model: The energy model, as the config or the user gave it.
        scale: The length of a slot and the energy of a unit.
        correlation: How much of the weather clients share, from 0 to 1.
        mean: Mean units a slot; 0 leaves it as it is.
        weather: The seed of the shared weather; None is that of the run.

    Raises:
        ConfigError: The model can't be scaled, or has no weather to share.

    Examples:
        >>> from fallow.energy import Bernoulli
        >>> settled(Bernoulli(p=0.1), scale=Scale(), correlation=0.0, mean=0.3)
        Bernoulli(p=0.3)
    """
    name = type(model).__name__
    if isinstance(model, Scaled):
        model = model.at_scale(scale)
    natural = isinstance(model, Rescaled)
    if mean and isinstance(model, Rescaled):
        model = model.with_mean(mean)
    elif mean and not isinstance(model, Averaged):
        raise ConfigError(f"energy.mean = {mean:g} can't be had of {name}, which does not know its mean; remove it.")
    if correlation:
        if not isinstance(model, Correlated):
            raise ConfigError(
                f"energy.correlation = {correlation:g} is for models in which chance decides, and {name} is none, or "
                "can't share it; set it to 0."
            )
        model = model.correlated(correlation)
        if weather is not None and isinstance(model, Weathered):
            model = model.with_weather(weather)
    return model if natural or not mean else Rescaling(model, mean)


def settled_forecast(model: EnergyModel, seed: int, clients: int, slots_per_epoch: int) -> EpochForecast:
    """Returns the forecast of a model as a run uses it.

    Args:
        model: As `settled` returns it.
        seed: The seed of its harvest.
        clients: N.
        slots_per_epoch: S.

    Raises:
        ConfigError: The model has no forecast.
    """
    if not isinstance(model, Forecasting):
        raise ConfigError(
            f"The policy needs a forecast of the energy model, and {type(model).__name__} has none; choose another "
            "energy model, or let the policy forecast by the truth."
        )
    return prepared_forecast(model, seed, clients, slots_per_epoch)
