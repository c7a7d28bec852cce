"""A trace times a factor, in whole units; and what is to come in a trace, which is known."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fallow.energy.base import MOST_UNITS, Harvest, Units
from fallow.energy.outlook import EpochForecast, Outlook
from fallow.errors import ConfigError

RunningSums = Callable[[int], NDArray[np.int64]]
"""From a slot to all units before it, shape (columns,), int64."""


class Table(Protocol):
    """A trace: units for each slot, from a file."""

    @property
    def end(self) -> str:
        """What follows the last row: "repeat" or "zeros"."""
        ...

    def read(self, clients: int) -> NDArray[np.int32]:
        """Returns the units, shape (slots, N) or (slots, 1), int32."""
        ...


@dataclass(frozen=True)
class ScaledTrace:
    """A trace times a factor: the whole units up to any slot are those of the trace times the factor, rounded down.

    Attributes:
        of: The trace.
        wanted: Mean units a slot, over all clients and the whole trace.

    Examples:
        >>> from fallow.energy import Trace
        >>> np.savetxt("roof.csv", [1, 0, 2], fmt="%d")
        >>> harvest = ScaledTrace(Trace("roof.csv"), wanted=0.5).prepare(seed=0, clients=1, slots_per_epoch=6)
        >>> [slot.tolist() for slot in harvest(0)]
        [[0], [0], [1], [1], [0], [1]]
    """

    of: Table
    wanted: float

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Harvest:
        """Returns the harvest, after a check of every cell of the file. The arguments are those of `Trace.prepare`."""
        sums = self._sums(clients)

        def harvest(epoch: int) -> Iterator[Units]:
            before = sums(epoch * slots_per_epoch)
            for slot in range(epoch * slots_per_epoch, (epoch + 1) * slots_per_epoch):
                after = sums(slot + 1)
                yield np.broadcast_to(after - before, clients)
                before = after

        return harvest

    def mean(self, clients: int) -> NDArray[np.float64]:
        """Returns the mean of each client over the whole trace, shape (N,), float64.

        Args:
            clients: N.
        """
        table = self.of.read(clients)
        return np.broadcast_to(table.mean(axis=0) * self._factor(table), clients)

    def prepare_forecast(self, seed: int, clients: int, slots_per_epoch: int) -> EpochForecast:
        """Returns the forecast, which is exact. The arguments are those of `Forecasting.prepare_forecast`."""
        return exact_forecast(self._sums(clients), clients, slots_per_epoch)

    def _sums(self, clients: int) -> RunningSums:
        table = self.of.read(clients)
        sums, factor = running_sums(table, repeats=self.of.end == "repeat"), self._factor(table)
        return lambda slot: np.floor(sums(slot) * factor).astype(np.int64)

    def _factor(self, table: NDArray[np.int32]) -> float:
        mean, most = float(table.mean()), int(table.max())
        factor = self.wanted / mean if mean else np.inf
        if not most * factor < MOST_UNITS:
            raise ConfigError(
                f"energy.mean = {self.wanted:g} can't be had of a trace with the mean {mean:g} and at most {most} "
                f"units in a slot, which can hold {MOST_UNITS} at most; lower energy.mean, or use another trace."
            )
        return factor


def running_sums(table: NDArray[np.int32], *, repeats: bool) -> RunningSums:
    """Returns the units of a trace before any slot.

    Args:
        table: Units for each slot, shape (slots, columns), int32.
        repeats: Whether the trace begins again after its end; else nothing follows.

    Examples:
        >>> sums = running_sums(np.array([[1], [0], [2]], dtype=np.int32), repeats=True)
        >>> [sums(slot).tolist() for slot in (0, 1, 3, 7)]
        [[0], [1], [3], [7]]
    """
    length, columns = table.shape
    sums = np.concatenate([np.zeros((1, columns), np.int64), np.cumsum(table, axis=0, dtype=np.int64)])

    def before(slot: int) -> NDArray[np.int64]:
        times, rest = divmod(slot, length) if repeats else (0, min(slot, length))
        units: NDArray[np.int64] = times * sums[-1] + sums[rest]
        return units

    return before


def exact_forecast(sums: RunningSums, clients: int, slots_per_epoch: int) -> EpochForecast:
    """Returns the forecast of a harvest that is known: the truth, with the error 0.

    Args:
        sums: All units before a slot.
        clients: N.
        slots_per_epoch: S.

    Examples:
        >>> forecast = exact_forecast(lambda slot: np.array([2 * slot]), clients=2, slots_per_epoch=5)
        >>> forecast(3, 2).units.tolist(), forecast(3, 2).error.tolist()
        ([[8.0, 10.0], [8.0, 10.0]], [[0.0, 0.0], [0.0, 0.0]])
    """

    def forecast(epoch: int, epochs: int) -> Outlook:
        edges = [epoch * slots_per_epoch + 1, *(later * slots_per_epoch for later in _following(epoch, epochs))]
        units = np.diff(np.stack([sums(edge) for edge in edges]), axis=0).T.astype(np.float64)
        return Outlook(np.broadcast_to(units, (clients, epochs)), np.zeros((clients, epochs)))

    return forecast


def _following(epoch: int, epochs: int) -> range:
    return range(epoch + 1, epoch + epochs + 1)
