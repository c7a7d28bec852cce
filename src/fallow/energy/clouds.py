"""Clouds that come and stay: the share of a clear sky's energy that reaches each client, slot by slot."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fallow.energy.weather import CHANGE, GOODNESS, parts, shared_draws
from fallow.rng import Purpose, bernoulli, stream

Clearness = Callable[[int], Iterator[NDArray[np.float64]]]
"""Yields the clearness of each slot of an epoch, shape (N,); the next slot changes the array in place."""


@dataclass(frozen=True)
class Clouds:
    """Clearness 1 − depth·U with U even on [0, 1]; in each slot it is drawn anew with probability `renewal`, or stays.

    So its mean is 1 − depth/2, its variance depth²/12 and its autocorrelation (1 − renewal)^lag, in every slot.

    Attributes:
        renewal: r, the probability that a client's clearness is drawn anew in a slot.
        depth: How dark clouds can be: 0 is always clear; at 1 the darkest let nothing through.
        correlation: c, the correlation of two clients' clearness in a slot.
        weather: The seed of the shared sky; None is that of the run.
    """

    renewal: float
    depth: float
    correlation: float = 0.0
    weather: int | None = None

    @property
    def mean(self) -> float:
        """The mean clearness."""
        return 1 - self.depth / 2

    @property
    def sharing(self) -> tuple[float, float]:
        """How probably a client follows the shared sky: in the very first slot, and in each slot after it.

        Two clients that both follow it have the same clearness until one of them draws alone. So of all slots a share
        q = s / (s + (1 − s)(2 − r)) has them together, where s is the probability that both follow it in a slot. Here
        s is such that q is c, and they are together in the first slot with probability c as well.
        """
        c, r = self.correlation, self.renewal
        return float(np.sqrt(c)), float(np.sqrt(c * (2 - r) / (1 + c * (1 - r))))

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Clearness:
        """Returns the clearness as a function of the epoch alone.

        What a client has when an epoch begins is the last draw before it. It is remembered from the epoch that was
        asked for last, and otherwise found by going back, epoch by epoch, until everyone has drawn.

        Args:
            seed: The seed of the run.
            clients: N.
            slots_per_epoch: S.
        """
        remembered: dict[int, NDArray[np.float64]] = {}

        def clearness(epoch: int) -> Iterator[NDArray[np.float64]]:
            now = remembered[epoch].copy() if epoch in remembered else before(epoch)
            yield from self._walk(seed, epoch, slots_per_epoch, now)
            remembered.clear()
            remembered[epoch + 1] = now

        def before(epoch: int) -> NDArray[np.float64]:
            known = np.full(clients, np.nan)
            for earlier in range(epoch - 1, -1, -1):
                last = np.full(clients, np.nan)
                for _ in self._walk(seed, earlier, slots_per_epoch, last):
                    pass
                known = np.where(np.isnan(known), last, known)
                if not np.isnan(known).any():
                    break
            return known

        return clearness

    def _walk(self, seed: int, epoch: int, slots: int, now: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        """Yields `now` after the draws of each slot of an epoch have changed it."""
        rng, clients = stream(seed, Purpose.CLOUDS, epoch), now.size
        weather = seed if self.weather is None else self.weather
        sky = shared_draws(weather, epoch, slots) if self.correlation else None
        first, later = self.sharing
        for begin, rows in parts(slots, clients):
            draws = bernoulli(rng, self.renewal, (rows, clients))
            follows = bernoulli(rng, later, (rows, clients)) if sky is not None else np.zeros_like(draws)
            for slot, draw, follow in zip(range(begin, begin + rows), draws, follows, strict=True):
                opening = epoch == 0 and slot == 0
                if opening:  # everyone draws, and pairs are together as often as they are later
                    draw[:] = True
                    follow[:] = rng.random(clients) < first
                alone = np.flatnonzero(draw & ~follow)
                now[alone] = 1 - self.depth * rng.random(alone.size)
                if sky is not None and (opening or sky[slot, CHANGE] < self.renewal):
                    now[follow] = 1 - self.depth * (1 - sky[slot, GOODNESS])
                yield now
