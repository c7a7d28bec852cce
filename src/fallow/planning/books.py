"""Where the energy of a device went, month by month, and when it had none to act with."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fallow.planning.weather import MONTH_DAYS, Weather
from fallow.simulation.books import consumed
from fallow.simulation.world import World
from fallow.simulation.world_state import NO_UPLOAD

HARVESTED = "harvested"
USES = {
    "training": "consumed_train",
    "sending": "consumed_tx",
    "listening": "consumed_listen",
    "downloading": "consumed_download",
    "idle": "consumed_idle",
}
"""What energy is used for, with the counter of it."""

LOSSES = ("conversion loss", "leakage", "overflow")
STORED = "stored"
WAYS = (*USES, *LOSSES, STORED)
"""Where a unit can go that was harvested. What is stored is the change of it, and may be negative."""


@dataclass(frozen=True, eq=False)
class Books:
    """The books of one device over the years that count.

    Attributes:
        entries: Units by what became of them, and "harvested", each of shape (years, 12), int64.
        short: Slots in which the device was not at work, and at whose end it could not pay for its next act, shape
            (years, 12), int64.
        asleep: Slots in which it slept, shape (years, 12), int64.
        uploads: Updates received, shape (years, 12), int64.
        slots: Slots of each month, shape (12,), int64.
    """

    entries: Mapping[str, NDArray[np.int64]]
    short: NDArray[np.int64]
    asleep: NDArray[np.int64]
    uploads: NDArray[np.int64]
    slots: NDArray[np.int64]


class BookKeeper:
    """Follows the first clients of a world, which are the years of one device."""

    def __init__(self, world: World, weather: Weather) -> None:
        """Begins to follow.

        Args:
            world: Its first clients are the years of the device.
            weather: What they live through.
        """
        self._world, self._years = world, slice(0, weather.years)
        self._slots = np.bincount(weather.months, minlength=len(MONTH_DAYS)) * weather.slots_per_round
        physics = world.physics
        self._to_train = (physics.cutoff + physics.train_cost)[self._years]
        self._to_send = (physics.cutoff + physics.transmit_cost)[self._years]
        self._uploads = world.state.uploads[self._years].copy()
        self._short = np.zeros(weather.years, dtype=np.int64)
        self._months: dict[str, NDArray[np.int64]] = {}
        self._before = self._read()

    def open(self) -> None:
        """Forgets the warm-up."""
        self._short[:] = 0
        self._before = self._read()
        shape = self._short.size, len(MONTH_DAYS)
        self._months = {name: np.zeros(shape, dtype=np.int64) for name in self._before}

    def watch(self, slot: int, world: World) -> None:
        """Counts who can't act for want of energy, at the end of a slot.

        Args:
            slot: Counted from the beginning.
            world: The world.
        """
        state = world.state
        battery, committed = state.battery[self._years], state.committed[self._years]
        uploads = state.uploads[self._years]
        at_work = committed & (state.free_at[self._years] > slot)
        at_work |= uploads != self._uploads
        at_work |= self._own(state.arrives_at != NO_UPLOAD)
        self._uploads = uploads.copy()
        short = battery < np.where(committed, self._to_send, self._to_train)
        short |= self._own(state.asleep)
        self._short += short & ~at_work

    def close_month(self, month: int) -> None:
        """Enters what happened since the last call.

        Args:
            month: From 0.
        """
        now = self._read()
        for name, units in now.items():
            self._months[name][:, month] += units - self._before[name]
        self._before = now

    def close(self) -> Books:
        """Returns the books."""
        counts = {name: self._months.pop(name) for name in ("short", "asleep", "uploads")}
        return Books(self._months, slots=self._slots, **counts)

    def _read(self) -> dict[str, NDArray[np.int64]]:
        """Returns what has come together since the beginning, each of shape (years,), int64."""
        state, physics = self._world.state, self._world.physics
        used = consumed(physics, state)
        nothing = np.zeros(1, dtype=np.int64)
        now: dict[str, NDArray[Any]] = {
            HARVESTED: state.harvested,
            **{way: used.get(counter, nothing) for way, counter in USES.items()},
            "conversion loss": state.conversion_loss,
            "leakage": state.leakage,
            "overflow": state.overflow,
            STORED: state.battery,
            "asleep": state.asleep_slots,
            "uploads": state.uploads,
            "short": self._short,
        }
        return {name: self._own(counted).astype(np.int64) for name, counted in now.items()}

    def _own(self, array: NDArray[Any]) -> NDArray[Any]:
        """Returns what concerns the device, shape (years,); what the world does not have is one number for all."""
        own = array[self._years]
        return own if own.size == self._short.size else np.broadcast_to(own, self._short.size)
