"""What a battery is: the numbers of one, and one in use, which yields what happens to its owner."""

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fallow.errors import FallowError
from fallow.policies import Mask, SlotView

StartHook = Callable[[SlotView], Mask]
"""The policy's `start`, asked about this client alone."""


class BatteryError(FallowError):
    """A battery can't be read."""


class Event(NamedTuple):
    """What happens to a client: it starts, finishes or sends a training; and in which slot."""

    kind: Literal["start", "finish", "upload"]
    slot: int


class Reading(NamedTuple):
    """A battery and its owner in the first slot of an epoch, after harvest and uploads.

    Attributes:
        units: What it can spend.
        training: The owner is in training.
        unsent: It has a finished update that waits for energy.
        finishing: The last batch of its training runs in this slot.
        sending: It sends an update in this slot.
        paid: It could pay for its probe.
        start_cost: Units of a start, with the download where it is still to come; None: those of a training.
        train_slots: Slots of a training; 0: as many as units.
        transmit_slots: Slots of an upload.
    """

    units: int
    training: bool = False
    unsent: bool = False
    finishing: bool = False
    sending: bool = False
    paid: bool = True
    start_cost: int | None = None
    train_slots: int = 0
    transmit_slots: int = 1


class OpenBattery(Protocol):
    """A battery in use.

    Attributes:
        lived: The last epoch that it lived through; −1 before the first.
        replays: Whether an epoch that was cut short can be lived again from its order, to the same end.
    """

    lived: int
    replays: bool

    @property
    def state(self) -> Any:
        """What must survive a restart: a frozen dataclass of arrays and numbers."""
        ...

    def catch_up(self, epoch: int) -> Iterator[Event]:
        """Lives through what came before an epoch, without orders, and yields what happens.

        Args:
            epoch: The first epoch that is not lived through, from 0.
        """
        ...

    def look(self, epoch: int) -> Reading:
        """Returns how things stand when an epoch begins. Changes nothing.

        Args:
            epoch: t, from 0.
        """
        ...

    def live(self, epoch: int, start: StartHook | None, *, selected: bool) -> Iterator[Event]:
        """Lives through an epoch, and yields what happens.

        The caller does what an event asks for before it asks for the next one.

        Args:
            epoch: t, from 0.
            start: Called in every slot, to ask whether the client starts. Without it, it starts as soon as it can.
            selected: Whether the client may train.
        """
        ...


@runtime_checkable
class HarvestMeter(Protocol):
    """A battery in use that also knows its harvest. Of one that does not, policies that ask are told NaN."""

    def mean_harvest(self, epoch: int) -> float:
        """Returns the units harvested a slot before an epoch, the mean; NaN if it does not know.

        Args:
            epoch: t, from 0.
        """
        ...

    def forecast(self, epoch: int, epochs: int, error: float) -> NDArray[np.float64]:
        """Returns the units expected in the rest of an epoch and in those that follow, shape (H,), float64.

        Args:
            epoch: t, whose first slot has passed.
            epochs: H, for how many epochs, this one included.
            error: The relative error that the policy states, for a forecast that is made out of the truth.
        """
        ...


class Battery(Protocol):
    """The numbers of a battery.

    Attributes:
        capacity: E_max, the units that it holds.
        train_cost: κ, the units that a training costs.
        transmit_cost: Units that an upload costs.
        slots_per_epoch: S.
    """

    @property
    def capacity(self) -> int: ...  # noqa: D102
    @property
    def train_cost(self) -> int: ...  # noqa: D102
    @property
    def transmit_cost(self) -> int: ...  # noqa: D102
    @property
    def slots_per_epoch(self) -> int: ...  # noqa: D102

    def open(self, state: Any = None, *, probes: bool, ideal: bool) -> OpenBattery:
        """Returns the battery in use.

        Args:
            state: What `OpenBattery.state` was before a restart; None at first.
            probes: Whether the policy makes probes, which may cost energy.
            ideal: Whether time and energy are set aside.
        """
        ...
