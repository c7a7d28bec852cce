"""An emulated battery in use: a world of one client, in the simulator's own slots."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fallow.energy import Physics, Units
from fallow.flower.batteries.base import Event, Reading, StartHook
from fallow.flower.batteries.harvests import SharedHarvest
from fallow.simulation.world import World
from fallow.simulation.world_state import WorldState

if TYPE_CHECKING:
    from fallow.flower.batteries.emulated import Emulated


@dataclass(frozen=True, eq=False)
class EmulatedState:
    """What an emulated battery keeps over a restart.

    Attributes:
        world: Of its one client.
        lived: The last epoch that it lived through; −1 before the first.
    """

    world: WorldState
    lived: int = -1


class OpenEmulated:
    """A world of one client. Its physics is enforced in ``world.py``, as in a simulation."""

    replays = True

    def __init__(self, battery: "Emulated", physics: Physics, state: EmulatedState) -> None:
        self._battery, self._harvest, self.physics = battery, battery.harvest, physics
        self._state, self.lived = state.world, state.lived
        self._world: World | None = None
        self._unseen: list[Event] = []  # of epochs that were lived through together with others
        self._ahead: tuple[int, Reading] | None = None  # an epoch, and how things stand when it begins

    @property
    def number(self) -> int:
        """Which of the energy model's clients it is."""
        return self._battery.number

    @property
    def shared(self) -> SharedHarvest | None:
        """The harvest that it has in common with other batteries of this process."""
        return self._battery.shared

    @property
    def world(self) -> World:
        """The world of its one client."""
        if self._world is None:
            self._world = World(self.physics, self._state)
        return self._world

    @property
    def state(self) -> EmulatedState:
        """The state of the world, and the last epoch."""
        return EmulatedState(self._state, self.lived)

    def looked_into(self, epoch: int) -> bool:
        """Returns whether its reading of an epoch is at hand.

        Args:
            epoch: t, from 0.
        """
        return self._ahead is not None and self._ahead[0] == epoch

    def join(self, state: WorldState, epoch: int, events: list[Event], reading: Reading) -> None:
        """Takes over what came of the epochs before one that it lived through together with others.

        Args:
            state: Of its world; the arrays belong to it from now on.
            epoch: The first epoch that is not lived through.
            events: What happened; the next `catch_up` yields it.
            reading: How things stand when the epoch begins.
        """
        self._state, self._world, self.lived = state, None, epoch - 1
        self._unseen += events
        self._ahead = (epoch, reading)

    def catch_up(self, epoch: int) -> Iterator[Event]:
        """Lives through the epochs in which no order came. An update that is due is paid for, and kept for later.

        Args:
            epoch: The first epoch that is not lived through, from 0.
        """
        unseen, self._unseen = self._unseen, []
        yield from unseen
        while self.lived < epoch - 1:
            yield from self.live(self.lived + 1, None, selected=False)

    def look(self, epoch: int) -> Reading:
        """Returns how things stand in the first slot of an epoch.

        Args:
            epoch: t, from 0.
        """
        if self._ahead is None or self._ahead[0] != epoch:
            self._ahead = (epoch, readings(self.world, epoch, self._harvest(epoch))[0])
        return self._ahead[1]

    def live(self, epoch: int, start: StartHook | None, *, selected: bool) -> Iterator[Event]:
        """Lives through an epoch at once, and then yields what happened.

        The arguments are those of `OpenBattery.live`.
        """
        self._ahead = None
        opened = self.world.open_epoch(epoch, self._harvest(epoch))
        lived = self.world.run_slots(opened, np.array([selected]), start)
        self.lived = epoch
        for event in lived.events:
            if event.clients.size and event.kind in ("start", "finish", "upload"):
                yield Event(event.kind, event.slot)

    def mean_harvest(self, epoch: int) -> float:
        """Returns the units harvested a slot in all epochs before this one, the mean; 0 in the first epoch.

        Args:
            epoch: t, from 0.
        """
        return float(self._state.harvested[0] / max(1, epoch * self._battery.slots_per_epoch))

    def forecast(self, epoch: int, epochs: int, error: float) -> NDArray[np.float64]:
        """Returns the simulator's forecast, shape (H,), float64. The arguments are those of `HarvestMeter.forecast`."""
        return self._battery.forecast(epoch, epochs, error)


def readings(world: World, epoch: int, harvest: Iterable[Units]) -> list[Reading]:
    """Returns how each client stands in the first slot of an epoch. The world stays as it is.

    The harvest is known in advance, so a world in the same state can live through that slot.

    Args:
        world: As the epoch begins.
        epoch: t, from 0.
        harvest: Of the epoch, S rows of shape (N,), whole numbers.
    """
    ahead = World(world.physics, world.state.copy())
    opened = ahead.open_epoch(epoch, harvest, record_events=False)
    finishing, sent = set(opened.finishing.tolist()), set(opened.sent.tolist())
    columns = (
        ahead.spendable(opened.reached),
        ahead.training(opened.slot),
        ahead.unsent(opened.slot),
        opened.paid,
        ahead.start_cost(opened),
        ahead.physics.train_slots,
        ahead.physics.transmit_slots,
    )
    return [
        Reading(units, training, unsent, place in finishing, place in sent, paid, cost, train_slots, transmit_slots)
        for place, (units, training, unsent, paid, cost, train_slots, transmit_slots) in enumerate(
            zip(*(column.tolist() for column in columns), strict=True)
        )
    ]
