"""The harvest of an experiment: of all clients alike, or of classes of devices with harvests of their own."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from fallow.energy import Described, EpochForecast, Harvest, Outlook, prepare_forecast, prepare_harvest
from fallow.energy.devices.harvests import harvest_of_classes
from fallow.energy.fractions import means_of
from fallow.energy.groups import group_seed, group_sizes
from fallow.energy.harvest import settled
from fallow.errors import EnergyError, FallowError
from fallow.plugins.calls import blamed

if TYPE_CHECKING:
    from fallow.experiment.experiment import Experiment
    from fallow.experiment.sections import Energy

Prepared = TypeVar("Prepared")


def harvest_of(experiment: "Experiment") -> Harvest:
    """Returns the harvest of a run, after its energy models have read and checked what they need.

    Args:
        experiment: What is run.

    Raises:
        FallowError: An energy model can't be used as it is.
    """

    def prepare(place: int | None, seed: int, clients: int) -> Harvest:
        return _through_the_door(prepare_harvest, experiment, place, seed, clients)

    return harvest_of_classes(experiment.table(), prepare)


def forecast_of(experiment: "Experiment") -> EpochForecast:
    """Returns what the energy models themselves expect of the harvest, each class by its own.

    Args:
        experiment: What is run.

    Raises:
        FallowError: An energy model has no forecast, or can't be used as it is.
    """
    seed, clients, devices = experiment.seed, experiment.clients, experiment.device
    own = [device.energy is not None for device in devices]
    if not any(own):
        return _through_the_door(prepare_forecast, experiment, None, seed, clients)
    sizes = group_sizes([device.share for device in devices], clients)
    ends = np.cumsum(sizes)
    everyone = None if all(own) else _through_the_door(prepare_forecast, experiment, None, seed, clients)
    alone = {
        place: _through_the_door(prepare_forecast, experiment, place, group_seed(seed, place), size)
        for place, size in enumerate(sizes)
        if own[place] and size
    }

    def forecast(epoch: int, epochs: int) -> Outlook:
        units, error = np.zeros((clients, epochs)), np.zeros((clients, epochs))
        if everyone is not None:
            shared = everyone(epoch, epochs)
            units[:], error[:] = shared.units, shared.error
        for place, of_class in alone.items():
            outlook, block = of_class(epoch, epochs), slice(ends[place] - sizes[place], ends[place])
            units[block], error[block] = outlook.units, outlook.error
        return Outlook(units, error)

    return forecast


def mean_harvest_of(experiment: "Experiment") -> NDArray[np.float64] | None:
    """Returns the mean units a slot of each client, shape (N,), float64; None where an energy model can't say it.

    Args:
        experiment: What is run. A run needs no mean, so one that a model fails to give is no error here.
    """
    sizes = group_sizes([device.share for device in experiment.device], experiment.clients)
    groups = list(enumerate(sizes)) if sizes else [(None, experiment.clients)]
    means = []
    for place, size in groups:
        energy = energy_of(experiment, place)
        try:
            with blamed(f"The energy model '{energy.model}'", "mean", error=EnergyError):
                model = settled(energy.parts["model"], scale=experiment.scale, correlation=0.0, mean=energy.mean)
                means.append(means_of(model, size))
        except FallowError:
            return None
    return np.concatenate(means)


def energy_of(experiment: "Experiment", place: int | None) -> "Energy":
    """Returns the section energy of a class of devices, which is that of the experiment where it has none.

    Args:
        experiment: What is run.
        place: The place of the class; None: that of the experiment.
    """
    own = None if place is None else experiment.device[place].energy
    return experiment.energy if own is None else own


def describe_energy(experiment: "Experiment") -> str:
    """Returns what the energy models found in what they read, in a line each, such as the gaps of a file; else "".

    Args:
        experiment: What is run.

    Raises:
        FallowError: What one reads can't be used.
    """
    used = [energy_of(experiment, place) for place in range(len(experiment.device))] or [experiment.energy]
    found = [model.describe() for energy in used if isinstance(model := energy.parts["model"], Described)]
    return "\n".join(dict.fromkeys(str(line) for line in found if line))


def _through_the_door(
    prepare: Callable[..., Prepared], experiment: "Experiment", place: int | None, seed: int, clients: int
) -> Prepared:
    energy = energy_of(experiment, place)
    with blamed(f"The energy model '{energy.model}'", "its preparation", error=EnergyError):
        return prepare(
            energy.parts["model"],
            seed=seed,
            clients=clients,
            slots_per_epoch=experiment.slots_per_epoch,
            scale=experiment.scale,
            correlation=energy.correlation,
            mean=energy.mean,
            weather=experiment.seed,  # one sky for all, whatever the seed of a class
        )
