"""The harvest of an experiment: of all clients alike, or of classes of devices with harvests of their own."""

from typing import TYPE_CHECKING

from fallow.energy import Harvest, prepare_harvest
from fallow.energy.devices.harvests import harvest_of_classes

if TYPE_CHECKING:
    from fallow.experiment.experiment import Experiment
    from fallow.experiment.sections import Energy


def harvest_of(experiment: "Experiment") -> Harvest:
    """Returns the harvest of a run, after its energy models have read and checked what they need.

    Args:
        experiment: What is run.

    Raises:
        FallowError: An energy model can't be used as it is.
    """

    def prepare(place: int | None, seed: int, clients: int) -> Harvest:
        energy = energy_of(experiment, place)
        return prepare_harvest(
            energy.parts["model"],
            seed=seed,
            clients=clients,
            slots_per_epoch=experiment.slots_per_epoch,
            scale=experiment.scale,
            correlation=energy.correlation,
            mean=energy.mean,
            weather=experiment.seed,  # one sky for all, whatever the seed of a class
        )

    return harvest_of_classes(experiment.table(), prepare)


def energy_of(experiment: "Experiment", place: int | None) -> "Energy":
    """Returns the section energy of a class of devices, which is that of the experiment where it has none.

    Args:
        experiment: What is run.
        place: The place of the class; None: that of the experiment.
    """
    own = None if place is None else experiment.device[place].energy
    return experiment.energy if own is None else own
