"""The harvest of an experiment: of all clients alike, or of classes of devices with harvests of their own."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from fallow.energy import Harvest, Units, group_seed, group_sizes, joined, prepare_harvest
from fallow.errors import EnergyError

if TYPE_CHECKING:
    from fallow.experiment.experiment import Experiment
    from fallow.experiment.sections import Energy


def harvest_by_class(experiment: "Experiment") -> Harvest:
    """Returns the harvest of a run, after its energy models have read and checked what they need.

    Clients whose class has no harvest of its own have the same as without classes, to the byte. The harvest of a class
    has a seed of its own, of the run's seed and the place of the class; the weather that clients share is one for all.

    Args:
        experiment: What is run.

    Raises:
        FallowError: An energy model can't be used as it is.
    """
    if all(device.energy is None for device in experiment.device):
        return _prepare(experiment, experiment.energy, experiment.seed, experiment.clients)
    sizes = group_sizes([device.share for device in experiment.device], experiment.clients)
    own: list[Harvest | None] = [
        None if device.energy is None else _prepare(experiment, device.energy, group_seed(experiment.seed, place), size)
        for place, (device, size) in enumerate(zip(experiment.device, sizes, strict=True))
        if size
    ]
    alone = [harvest for harvest in own if harvest is not None]
    if len(alone) == len(own):
        return joined(alone, experiment.clients, experiment.slots_per_epoch)
    everyone = _prepare(experiment, experiment.energy, experiment.seed, experiment.clients)
    return _overlaid(everyone, own, [size for size in sizes if size])


def _overlaid(everyone: Harvest, own: list[Harvest | None], sizes: list[int]) -> Harvest:
    """Returns the harvest of everyone, in which some classes have their own; classes are blocks in their order."""
    ends = np.cumsum(sizes)

    def harvest(epoch: int) -> Iterator[Units]:
        alone = [iter(rows(epoch)) if rows is not None else None for rows in own]
        for units in everyone(epoch):
            blocks = np.split(np.asarray(units), ends[:-1])
            yield np.concatenate(
                [block if rows is None else _next_slot(rows) for block, rows in zip(blocks, alone, strict=True)]
            )

    return harvest


def _next_slot(rows: Iterator[Units]) -> Units:
    units = next(rows, None)
    if units is None:
        raise EnergyError("The energy model of a device class gave fewer slots than an epoch has.")
    return units


def _prepare(experiment: "Experiment", energy: "Energy", seed: int, clients: int) -> Harvest:
    return prepare_harvest(
        energy.parts["model"],
        seed=seed,
        clients=clients,
        slots_per_epoch=experiment.slots_per_epoch,
        scale=experiment.scale,
        correlation=energy.correlation,
        mean=energy.mean,
        weather=experiment.seed if seed != experiment.seed else None,
    )
