"""The harvest of an experiment: of all clients alike, or of classes of devices with harvests of their own."""

from typing import TYPE_CHECKING

import numpy as np

from fallow.energy import Harvest, prepare_harvest
from fallow.energy.groups import Members, group_seed, grouped, of_members

if TYPE_CHECKING:
    from fallow.experiment.experiment import Experiment
    from fallow.experiment.sections import Energy


def harvest_by_class(experiment: "Experiment") -> Harvest:
    """Returns the harvest of a run, after its energy models have read and checked what they need.

    Clients whose class has no harvest of its own have the same as without classes, to the byte. The harvest of a class
    has a seed of its own, of the run's seed and the place of the class.

    Args:
        experiment: What is run.

    Raises:
        FallowError: An energy model can't be used as it is.
    """
    members = experiment.device_classes
    own = [place for place, device in enumerate(experiment.device) if device.energy is not None]
    if members is None or not own:
        return _prepare(experiment, experiment.energy, experiment.seed, experiment.clients)
    harvests: list[Harvest] = []
    groups: list[Members] = []
    shared = np.flatnonzero(~np.isin(members, own))
    if shared.size:
        everyone = _prepare(experiment, experiment.energy, experiment.seed, experiment.clients)
        harvests, groups = [of_members(everyone, shared)], [shared]
    for place in own:
        who, energy = np.flatnonzero(members == place), experiment.device[place].energy
        if who.size and energy is not None:
            harvests.append(_prepare(experiment, energy, group_seed(experiment.seed, place), who.size))
            groups.append(who)
    return grouped(harvests, groups, experiment.slots_per_epoch)


def _prepare(experiment: "Experiment", energy: "Energy", seed: int, clients: int) -> Harvest:
    return prepare_harvest(
        energy.parts["model"],
        seed=seed,
        clients=clients,
        slots_per_epoch=experiment.slots_per_epoch,
        scale=experiment.scale,
        correlation=energy.correlation,
        mean=energy.mean,
    )
