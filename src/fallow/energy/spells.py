"""Good and bad spells: for each client a state in each slot, found for any epoch without living through those before.

In each slot the state is drawn afresh with probability r, and stays otherwise. So the state of a slot is the draw of
the last refresh, which is looked for backwards, epoch by epoch.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from fallow.energy.weather import CHANGE, GOODNESS, parts, shared_draws
from fallow.rng import Purpose, bernoulli, stream

Mask = NDArray[np.bool_]

REMEMBERED = 8
"""Epochs whose last states are remembered: those of a run and of a forecast, side by side."""


@dataclass(frozen=True)
class SpellLaw:
    """How long spells last. Both lengths are geometric.

    Attributes:
        good: Mean slots of a good spell.
        bad: Mean slots of a bad spell.

    Examples:
        >>> law = SpellLaw(good=10.0, bad=30.0)
        >>> round(law.refresh, 4), law.share
        (0.1333, 0.25)
    """

    good: float
    bad: float

    @property
    def refresh(self) -> float:
        """The probability that a slot draws the state afresh, r = 1/good + 1/bad."""
        return min(1 / self.good + 1 / self.bad, 1.0)

    @property
    def share(self) -> float:
        """The share of good slots, π = good / (good + bad)."""
        return self.good / (self.good + self.bad)

    def taken(self, correlation: float) -> float:
        """Returns s, how probably two clients both take a slot's shared draw: c(2 − r) / (1 + c(1 − r)).

        Two clients part ways when one of them refreshes alone. So of s there remains the correlation
        C = s·r / (1 − s(1−r) − (1−s)(1−r)²) of their states, which is c for this s.

        Args:
            correlation: c, the correlation of two clients' states in a slot.

        Examples:
            >>> SpellLaw(good=2.0, bad=2.0).taken(0.25)  # r = 1: no memory
            0.25
        """
        r = self.refresh
        return correlation * (2 - r) / (1 + correlation * (1 - r))


class Spells:
    """The states of all clients, good or bad, in the slots of any epoch.

    Attributes:
        law: How long spells last.
        correlation: c, the correlation of two clients' states in a slot.
        weather: The seed of the shared draws.
    """

    def __init__(
        self,
        law: SpellLaw,
        seed: int,
        clients: int,
        slots_per_epoch: int,
        correlation: float = 0.0,
        weather: int | None = None,
    ) -> None:
        self.law, self.correlation, self.weather = law, correlation, seed if weather is None else weather
        self._seed, self._clients, self._slots = seed, clients, slots_per_epoch
        self._ends: dict[int, Mask] = {}

    def states(self, epoch: int) -> Iterator[tuple[Mask, Mask | None]]:
        """Yields the states of an epoch, some slots at a time.

        Args:
            epoch: t.

        Yields:
            Whether each client is in a good spell, shape (rows, N), bool; and whether it takes the shared draws of the
            slot, of the same shape, or None where nothing is shared.
        """
        state = self.before(epoch).copy()
        for refresh, fresh, takes in self._draws(epoch):
            for drawn, now in zip(refresh, fresh, strict=True):
                state ^= (state ^ now) & drawn  # the new draw where there is one
                now[:] = state
            yield fresh, takes
        self._remember(epoch, state)

    def first_slot(self, epoch: int) -> Mask:
        """Returns whether each client is in a good spell in the first slot of an epoch, shape (N,), bool.

        Args:
            epoch: t.
        """
        refresh, fresh, _ = next(self._draws(epoch))
        return np.where(refresh[0], fresh[0], self.before(epoch))

    def before(self, epoch: int) -> Mask:
        """Returns the states before the first slot of an epoch, shape (N,), bool; looks back as far as it must.

        Args:
            epoch: t.
        """
        state = np.zeros(self._clients, dtype=np.bool_)
        unknown = np.ones(self._clients, dtype=np.bool_)
        earlier = epoch - 1
        while unknown.any():
            end = self._ends.get(earlier) if earlier >= 0 else self._first()
            refreshed, last = self._last_draws(earlier) if end is None else (unknown, end)
            found = unknown & refreshed
            state |= found & last
            unknown &= ~refreshed if end is None else False
            earlier -= 1
        if epoch:
            self._remember(epoch - 1, state)
        return state

    def _first(self) -> Mask:
        """Returns the states before the first slot of all: stationary, each and as pairs, shape (N,), bool."""
        rng, share = stream(self._seed, Purpose.SPELLS, 0, client=0), self.law.share
        state: Mask = bernoulli(rng, share, (1, self._clients))[0]
        if not self.correlation:
            return state
        takes = bernoulli(rng, sqrt(self.correlation), (1, self._clients))[0]
        shared = stream(self.weather, Purpose.WEATHER, 0, client=0).random() >= 1 - share
        return np.asarray(np.where(takes, shared, state))

    def _draws(self, epoch: int) -> Iterator[tuple[Mask, Mask, Mask | None]]:
        """Yields who draws afresh, what it draws and who takes the shared draw, each of shape (rows, N), bool."""
        rng, refresh, share = stream(self._seed, Purpose.SPELLS, epoch), self.law.refresh, self.law.share
        sharing = stream(self._seed, Purpose.SHARING, epoch)
        weather = shared_draws(self.weather, epoch, self._slots) if self.correlation else None
        for first, rows in parts(self._slots, self._clients):
            shape = (rows, self._clients)
            drawn, fresh = bernoulli(rng, refresh, shape), bernoulli(rng, share, shape)
            if weather is None:
                yield drawn, fresh, None
                continue
            takes = bernoulli(sharing, sqrt(self.law.taken(self.correlation)), shape)
            shared = weather[first : first + rows]
            drawn = np.where(takes, shared[:, CHANGE, None] < refresh, drawn)
            fresh = np.where(takes, shared[:, GOODNESS, None] >= 1 - share, fresh)
            yield drawn, fresh, takes

    def _last_draws(self, epoch: int) -> tuple[Mask, Mask]:
        """Returns who drew afresh in an epoch, and what it drew last, each of shape (N,), bool."""
        refreshed, last = np.zeros((2, self._clients), dtype=np.bool_)
        for refresh, fresh, _ in self._draws(epoch):
            for drawn, now in zip(refresh, fresh, strict=True):
                last ^= (last ^ now) & drawn
                refreshed |= drawn
        return refreshed, last

    def _remember(self, epoch: int, state: Mask) -> None:
        self._ends.pop(epoch, None)
        self._ends[epoch] = state.copy()
        while len(self._ends) > REMEMBERED:
            del self._ends[next(iter(self._ends))]
