"""Metered: batteries that decide by what they hold now, real ones and one that an energy model fills by the clock."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fallow.flower.batteries.base import Battery, BatteryError, Event, Reading, StartHook
from fallow.flower.batteries.emulated import Emulated
from fallow.flower.batteries.sources import Meter, MeteredState, Panel, Source
from fallow.policies import SlotView


@dataclass(frozen=True)
class WallClock:
    """The simulator's energy model by the clock: a slot lasts so many seconds, whether anybody calls or not.

    A probe costs nothing here.

    Attributes:
        emulated: The numbers.
        slot_seconds: How long a slot lasts.
        wait: Whether a selected client waits for energy until its S slots are over; else it declines at once.
    """

    emulated: Emulated
    slot_seconds: float
    wait: bool = True

    @property
    def capacity(self) -> int:
        """E_max, the units that the battery holds."""
        return self.emulated.capacity

    @property
    def train_cost(self) -> int:
        """κ, the units that a training costs."""
        return self.emulated.train_cost

    @property
    def transmit_cost(self) -> int:
        """Units that an upload costs."""
        return self.emulated.transmit_cost

    @property
    def slots_per_epoch(self) -> int:
        """S, the slots of an epoch."""
        return self.emulated.slots_per_epoch

    def open(self, state: "MeteredState | None" = None, *, probes: bool, ideal: bool) -> "OpenMetered":
        """Returns the battery in use. The arguments are those of `Battery.open`."""
        units = min(self.emulated.initial, self.emulated.capacity)
        kept = state or MeteredState(units=units, began=time.time())
        panel = Panel(self.emulated, self.slot_seconds, kept)
        return OpenMetered(
            self, panel, self.slots_per_epoch, self.slot_seconds if self.wait else 0.0, kept, ideal=ideal
        )


@dataclass(frozen=True)
class Metered:
    """A real battery. Fallow reads it; what a training really takes, the device pays by itself.

    Attributes:
        meter: Reads the level, in the unit that the other numbers are in.
        capacity: The level of a full battery.
        train_cost: The level that must be there before a training.
        transmit_cost: The level that must be there before an upload.
        slots_per_epoch: How often a selected client looks at its battery before it declines; the server's own number
            if the policy decides slot by slot.
        slot_seconds: How long it waits in between.
        forecast: From H to the units expected in the rest of this epoch and in those that follow, H numbers, for
            policies that ask for a forecast; without it they are told NaN.
    """

    meter: Callable[[], float]
    capacity: int = 100
    train_cost: int = 20
    transmit_cost: int = 1
    slots_per_epoch: int = 1
    slot_seconds: float = 0.0
    forecast: Callable[[int], Sequence[float]] | None = None

    def open(self, state: "MeteredState | None" = None, *, probes: bool, ideal: bool) -> "OpenMetered":
        """Returns the battery in use. The arguments are those of `Battery.open`."""
        source, kept = Meter(self.meter, self.forecast), state or MeteredState()
        return OpenMetered(self, source, self.slots_per_epoch, self.slot_seconds, kept, ideal=ideal)


class OpenMetered:
    """A battery that decides by what it holds now."""

    replays = False

    def __init__(
        self, battery: Battery, source: Source, slots: int, slot_seconds: float, kept: MeteredState, *, ideal: bool
    ) -> None:
        self._battery, self._source, self._slots, self._slot_seconds = battery, source, slots, slot_seconds
        self._ideal = ideal
        self.lived, self._unsent = kept.lived, kept.unsent

    @property
    def state(self) -> MeteredState:
        """The last epoch, whether an update waits, and what the battery holds, if it does not know that itself."""
        return self._source.kept_in(MeteredState(self.lived, self._unsent))

    def catch_up(self, epoch: int) -> Iterator[Event]:
        """Yields nothing: nothing happens without orders."""
        return iter(())

    def look(self, epoch: int) -> Reading:
        """Reads the level, and returns how things stand."""
        return Reading(self._level(), unsent=self._unsent)

    def live(self, epoch: int, start: StartHook | None, *, selected: bool) -> Iterator[Event]:
        """Sends what waits. Then, if selected, trains as soon as there is enough energy, and sends that.

        The arguments are those of `OpenBattery.live`.
        """
        first = epoch * self._slots
        yield from self._send(first)
        for slot_in_epoch in range(self._slots if selected and not self._unsent else 0):
            if slot_in_epoch and self._slot_seconds:
                time.sleep(self._slot_seconds)
            level = self._level()
            view = SlotView(
                slot_in_epoch,
                np.array([level], dtype=np.int32),
                np.array([self._ideal or level >= self._battery.train_cost]),
                self._battery.slots_per_epoch,
                np.array([self._battery.train_cost], dtype=np.int32),
                np.array([self._battery.transmit_cost], dtype=np.int32),
                np.array([0], dtype=np.int32),  # it trains and sends within the slot
                np.array([1], dtype=np.int32),
            )
            if (view.ready & start(view) if start else view.ready)[0]:
                self._source.spend(0 if self._ideal else self._battery.train_cost)
                yield Event("start", first + slot_in_epoch)
                self._unsent = True
                yield Event("finish", first + slot_in_epoch)
                yield from self._send(first + slot_in_epoch)
                break
        self.lived = epoch

    def mean_harvest(self, epoch: int) -> float:
        """Returns the units harvested a slot so far, by the clock; NaN from a real battery, which is only read."""
        return self._source.mean_harvest()

    def forecast(self, epoch: int, epochs: int, error: float) -> NDArray[np.float64]:
        """Returns the units expected, shape (H,), float64. The arguments are those of `HarvestMeter.forecast`."""
        return self._source.forecast(epoch, epochs, error)

    def _send(self, slot: int) -> Iterator[Event]:
        cost = 0 if self._ideal else self._battery.transmit_cost
        if self._unsent and self._level() >= cost:
            self._source.spend(cost)
            self._unsent = False
            yield Event("upload", slot)

    def _level(self) -> int:
        level, capacity = self._source.level(), self._battery.capacity
        if level > capacity:
            raise BatteryError(
                f"The battery's level is {level}, and its capacity is {capacity}; give it the capacity that it has, in "
                "the unit of its meter."
            )
        return level
