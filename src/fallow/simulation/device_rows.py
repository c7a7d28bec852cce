"""The classes of devices over time: what each stores, harvests and spends; the rows of devices.csv."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from fallow.energy import Physics
from fallow.experiment import Experiment
from fallow.simulation.books import consumed
from fallow.simulation.world import World

Sums = dict[str, NDArray[np.int64]]
"""Sums over each class since the beginning, each of shape (classes,), int64."""


@dataclass(frozen=True)
class DeviceRow:
    """A class of devices in an epoch. ``docs/metrics.md`` describes each column.

    Attributes:
        device: The name of the class.
        clients: How many clients it has.
        capacity: Units that their batteries can store together.
        stored: Units that they store at the epoch's end.
        harvested: Units harvested in the epoch, before any loss.
        consumed: Units spent in the epoch, on anything.
        overflow: Units that full batteries turned away.
        starts: Trainings started in the epoch.
        uploads: Updates received in the epoch.
        short: Clients that were idle in the epoch's first slot, with less energy than a training costs.
        conversion_loss: Units of the harvest that did not reach the batteries.
        leakage: Units that leaked away.
        asleep: Client-slots slept through.
    """

    device: str
    clients: int
    capacity: int
    stored: int
    harvested: int
    consumed: int
    overflow: int
    starts: int
    uploads: int
    short: int
    conversion_loss: int
    leakage: int
    asleep: int

    def cells(self, epoch: int, columns: Sequence[str]) -> dict[str, int | str]:
        """Returns the cells of devices.csv.

        Args:
            epoch: t.
            columns: Those that the table has.
        """
        cells = {"epoch": epoch} | vars(self)
        return {name: cells[name] for name in columns}


DEVICE_COLUMNS = ("epoch", *(column.name for column in fields(DeviceRow)))
"""The columns of devices.csv."""

LOSSES = ("conversion_loss", "leakage", "asleep")
"""Those that only a world beyond the paper's has."""


class DeviceBooks:
    """Sums over each class of devices.

    Args:
        names: Of the classes.
        members: The class of each client, shape (N,), intp.
        extended: Whether the world has losses and sleep.

    Attributes:
        columns: Of devices.csv.
    """

    def __init__(self, names: list[str], members: NDArray[np.intp], *, extended: bool) -> None:
        self._names, self._members = names, members
        self.columns = tuple(name for name in DEVICE_COLUMNS if extended or name not in LOSSES)

    @classmethod
    def of(cls, experiment: Experiment, physics: Physics) -> "DeviceBooks | None":
        """Returns the books of an experiment; None where it has no classes of devices.

        Args:
            experiment: What is run.
            physics: Of the run.
        """
        members, names = experiment.device_classes, [device.name for device in experiment.device]
        return None if members is None else cls(names, members, extended=physics.extended)

    def sums(self, world: World) -> Sums:
        """Returns what is summed over each class since the run began.

        Args:
            world: All batteries and books.
        """
        state = world.state
        counted: dict[str, NDArray[np.signedinteger]] = {
            "harvested": state.harvested,
            "consumed": sum(consumed(world.physics, state).values(), start=np.zeros(1, dtype=np.int64)),
            "overflow": state.overflow,
            "starts": state.starts,
            "uploads": state.uploads,
            "short": state.short_epochs,
            "conversion_loss": state.conversion_loss,
            "leakage": state.leakage,
            "asleep": state.asleep_slots,
        }
        return {name: self._over_classes(values) for name, values in counted.items()}

    def rows(self, world: World, before: Sums) -> tuple[DeviceRow, ...]:
        """Returns the rows of an epoch, one a class.

        Args:
            world: All batteries and books, at the epoch's end.
            before: What `sums` returned at its beginning.
        """
        after = self.sums(world)
        levels = {
            "clients": self._over_classes(np.ones(self._members.size, dtype=np.int64)),
            "capacity": self._over_classes(world.physics.capacity),
            "stored": self._over_classes(world.state.battery),
        }
        columns = levels | {name: after[name] - before[name] for name in after}
        return tuple(
            DeviceRow(device=name, **{column: int(sums[place]) for column, sums in columns.items()})
            for place, name in enumerate(self._names)
        )

    def _over_classes(self, values: NDArray[np.signedinteger]) -> NDArray[np.int64]:
        sums = np.zeros(len(self._names), dtype=np.int64)
        np.add.at(sums, self._members, np.broadcast_to(values, self._members.size))
        return sums
