"""A harvest that is known for all time: its units are differences of one running total, so that no fraction is lost."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fallow.arrays import per_client
from fallow.energy.base import Harvest, Units
from fallow.energy.outlook import EpochForecast, Outlook
from fallow.errors import ConfigError, TraceError

Totals = Callable[[NDArray[np.int64]], NDArray[np.float64]]
"""Returns the joules from the run's start until the beginning of each of some slots, shape (slots, columns), float64.

Shape of its argument: (slots,), int64. A column is a client's, or the only one and everyone's. Totals never fall from
one slot to a later one.
"""


ROUNDING = 1e-6
"""Units by which a total may fall short of a whole one and still count: so far decimals such as 0.1 can lead astray."""


@dataclass(frozen=True)
class Steady:
    """Units of a source without chance: ⌊total until the slot's end⌋ − ⌊total until its beginning⌋.

    So the units of any slots in a row differ from the real energy by less than one unit, however many they are.

    Attributes:
        totals: The running total of the source.
        units_per_joule: Units that each client has of a joule of the source: one number, or one for each client.
        mean_joules: Returns the source's mean joules a slot, shape (columns,).
        source: What the source is, as the subject of an error sentence.
        columns: Of `totals`: one for each client, or 1 for all.

    Examples:
        >>> one_joule_a_slot = lambda slots: slots[:, None].astype(float)
        >>> model = Steady(one_joule_a_slot, 0.4, lambda: np.ones(1), "The source")
        >>> [slot.tolist() for slot in model.prepare(seed=0, clients=2, slots_per_epoch=5)(0)]
        [[0, 0], [0, 0], [1, 1], [0, 0], [1, 1]]
    """

    totals: Totals
    units_per_joule: float | tuple[float, ...]
    mean_joules: Callable[[], NDArray[np.float64]]
    source: str
    columns: int = 1

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Harvest:
        """Returns the harvest.

        Args:
            seed: Is not used: nothing is left to chance.
            clients: N.
            slots_per_epoch: S.

        Raises:
            ConfigError: A setting has not one number for each client.
            TraceError: There is not one column for each client.
        """
        if self.columns not in (1, clients):
            raise TraceError(
                f"{self.source} has {self.columns} columns of watts for {clients} clients; it needs one column for "
                "each client, or one for all."
            )
        factor = np.asarray(self.units_per_joule, dtype=np.float64)
        if factor.ndim:
            per_client(self.source, factor, clients, np.float64)

        def harvest(epoch: int) -> Iterator[Units]:
            edges = np.arange(epoch * slots_per_epoch, (epoch + 1) * slots_per_epoch + 1, dtype=np.int64)
            totals = self.totals(edges)
            before = np.floor(totals[0] * factor + ROUNDING)
            for total in totals[1:]:
                after = np.floor(total * factor + ROUNDING)
                yield np.broadcast_to((after - before).astype(np.int64), clients)
                before = after

        return harvest

    def prepare_forecast(self, seed: int, clients: int, slots_per_epoch: int) -> EpochForecast:
        """Returns the forecast: the truth.

        Args:
            seed: Is not used: nothing is left to chance.
            clients: N.
            slots_per_epoch: S.
        """
        factor = np.asarray(self.units_per_joule, dtype=np.float64)

        def forecast(epoch: int, epochs: int) -> Outlook:
            ends = (epoch + np.arange(epochs + 1, dtype=np.int64)) * slots_per_epoch
            ends[0] += 1  # the first slot's harvest is in
            units = np.diff(np.floor(self.totals(ends) * factor + ROUNDING), axis=0).T
            return Outlook(np.broadcast_to(units, (clients, epochs)).copy(), np.zeros((clients, epochs)))

        return forecast

    def mean(self, clients: int) -> NDArray[np.float64]:
        """Returns the mean units a slot of each client, shape (N,), float64.

        Args:
            clients: N.
        """
        means = self.mean_joules() * np.asarray(self.units_per_joule, dtype=np.float64)
        return per_client(self.source, means if means.size > 1 else means.reshape(()), clients, np.float64)

    def with_mean(self, mean: float) -> "Steady":
        """Returns the source times the factor that gives it another mean.

        Args:
            mean: Units a slot, over all clients and the whole time.

        Raises:
            ConfigError: The source gives nothing.
        """
        factor = np.asarray(self.units_per_joule, dtype=np.float64)
        now = float((self.mean_joules() * factor).mean()) if factor.any() else 0.0
        if not now > 0:
            raise ConfigError(f"{self.source} gives nothing, so energy.mean can't be had of it; remove energy.mean.")
        scaled = factor * (mean / now)
        return replace(self, units_per_joule=float(scaled) if scaled.ndim == 0 else tuple(scaled.tolist()))
