"""Metered: batteries that decide by what they hold now, real ones and one that an energy model fills by the clock."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from fallow.flower.batteries.base import Battery, BatteryError, Event, Reading, StartHook
from fallow.flower.batteries.emulated import Emulated
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
        panel = _Panel(self.emulated, self.slot_seconds, kept)
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
    """

    meter: Callable[[], float]
    capacity: int = 100
    train_cost: int = 20
    transmit_cost: int = 1
    slots_per_epoch: int = 1
    slot_seconds: float = 0.0

    def open(self, state: "MeteredState | None" = None, *, probes: bool, ideal: bool) -> "OpenMetered":
        """Returns the battery in use. The arguments are those of `Battery.open`."""
        kept = state or MeteredState()
        return OpenMetered(self, _Meter(self.meter), self.slots_per_epoch, self.slot_seconds, kept, ideal=ideal)


@dataclass(frozen=True)
class MeteredState:
    """What a metered battery keeps over a restart.

    Attributes:
        lived: The last epoch that it lived through; −1 before the first.
        unsent: Whether an update waits for energy.
        units: Stored, where an energy model fills the battery; a real one knows its level.
        slots: Slots whose harvest it has had, where an energy model fills it.
        began: When its first slot began, in seconds since 1970, where an energy model fills it.
    """

    lived: int = -1
    unsent: bool = False
    units: int = 0
    slots: int = 0
    began: float = 0.0


class _Source(Protocol):
    """What an open metered battery draws from."""

    def level(self) -> int: ...
    def spend(self, units: int) -> None: ...
    def kept_in(self, state: MeteredState) -> MeteredState: ...


class OpenMetered:
    """A battery that decides by what it holds now."""

    replays = False

    def __init__(
        self, battery: Battery, source: _Source, slots: int, slot_seconds: float, kept: MeteredState, *, ideal: bool
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
        return Reading(self._source.level(), unsent=self._unsent)

    def live(self, epoch: int, start: StartHook | None, *, selected: bool) -> Iterator[Event]:
        """Sends what waits. Then, if selected, trains as soon as there is enough energy, and sends that.

        The arguments are those of `OpenBattery.live`.
        """
        first = epoch * self._slots
        yield from self._send(first)
        for slot_in_epoch in range(self._slots if selected and not self._unsent else 0):
            if slot_in_epoch and self._slot_seconds:
                time.sleep(self._slot_seconds)
            level = self._source.level()
            view = SlotView(
                slot_in_epoch,
                np.array([level], dtype=np.int32),
                np.array([self._ideal or level >= self._battery.train_cost]),
                self._battery.slots_per_epoch,
                np.array([self._battery.train_cost], dtype=np.int32),
                self._battery.transmit_cost,
            )
            if (view.ready & start(view) if start else view.ready)[0]:
                self._source.spend(0 if self._ideal else self._battery.train_cost)
                yield Event("start", first + slot_in_epoch)
                self._unsent = True
                yield Event("finish", first + slot_in_epoch)
                yield from self._send(first + slot_in_epoch)
                break
        self.lived = epoch

    def _send(self, slot: int) -> Iterator[Event]:
        cost = 0 if self._ideal else self._battery.transmit_cost
        if self._unsent and self._source.level() >= cost:
            self._source.spend(cost)
            self._unsent = False
            yield Event("upload", slot)


class _Meter:
    """A real battery: spends by itself."""

    def __init__(self, read: Callable[[], float]) -> None:
        self._read = read

    def level(self) -> int:
        level = self._read()
        if not 0 <= level < 2**31:
            raise BatteryError(f"The battery's level is {level}; it must be 0 or more.")
        return int(level)

    def spend(self, units: int) -> None:
        pass

    def kept_in(self, state: MeteredState) -> MeteredState:
        return state


class _Panel:
    """A battery that an energy model fills by the clock of this machine."""

    def __init__(self, emulated: Emulated, slot_seconds: float, kept: MeteredState) -> None:
        self._emulated, self._slot_seconds = emulated, slot_seconds
        self._harvest = emulated.harvest
        self._units, self._slots, self._began = kept.units, kept.slots, kept.began

    def level(self) -> int:
        due = int((time.time() - self._began) / self._slot_seconds)
        while self._slots < due:
            epoch, done = divmod(self._slots, self._emulated.slots_per_epoch)
            for units in list(self._harvest(epoch))[done : done + due - self._slots]:
                self._units = min(self._units + int(units[0]), self._emulated.capacity)
                self._slots += 1
        return self._units

    def spend(self, units: int) -> None:
        if units > self._units:
            raise BatteryError(f"{units} units were to be spent and {self._units} are there: a bug in Fallow.")
        self._units -= units

    def kept_in(self, state: MeteredState) -> MeteredState:
        return replace(state, units=self._units, slots=self._slots, began=self._began)
