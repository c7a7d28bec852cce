"""Watts from a file: measured power with time stamps, resampled to slots without losing energy."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fallow.energy.base import Harvest
from fallow.energy.clock import parse_moment, parse_zone
from fallow.energy.findings import Findings
from fallow.energy.power_file import Fill, PowerFile, read_power
from fallow.energy.scale import Scale
from fallow.energy.steady import Steady
from fallow.energy.trace import NO_PATH
from fallow.errors import ConfigError, TraceError

Factor = Annotated[float, Field(ge=0)]


@dataclass(frozen=True)
class Watts:
    """Watts with time stamps from a CSV file, constant until the next stamp, resampled without losing energy.

    The first column is the time: ISO 8601, with an offset or in `timezone`, or seconds since 1970. Then follows one
    column of watts, or one for each client.

    Attributes:
        path: The CSV file; relative to the working directory.
        timezone: The zone of stamps, and of a `start`, without an offset of their own.
        start: The moment in the file at which the run begins; empty is the first stamp.
        end: What follows the last row: "repeat" begins again, "zeros" harvests nothing more, "hold" goes on with it.
        gap: Steps longer than so many typical ones are gaps.
        fill: What is in a gap: "zeros", "interpolate" between its ends, or "hold" the value before it.
        factor: What the watts are multiplied by: one number, or one for each client.

    Examples:
        >>> rows = ["time,watts", "2025-06-21T12:00Z,0.5", "2025-06-21T12:10Z,1.0"]
        >>> np.savetxt("roof.csv", rows, fmt="%s")
        >>> model = Watts("roof.csv").at_scale(Scale(slot_seconds=300, unit_joules=100))
        >>> [int(slot[0]) for slot in model.prepare(seed=0, clients=1, slots_per_epoch=5)(0)]
        [1, 2, 3, 3, 1]
        >>> print(Watts("roof.csv").describe())
        roof.csv: 2 rows from 2025-06-21 12:00 UTC, 20 min in steps of 10 min, mean 0.75 W.
    """

    path: Annotated[str, Field(min_length=1, description="CSV file of times and watts")]
    timezone: Annotated[
        str, Field(min_length=1, description="zone of times without offset: UTC, a name such as Europe/Rome, +01:00")
    ] = "UTC"
    start: Annotated[
        str, Field(description="moment in the file at which the run begins, as in 2025-06-21T12:00; empty is the first")
    ] = ""
    end: Annotated[
        Literal["repeat", "zeros", "hold"],
        Field(description="after the last row: begin again, harvest nothing more, or go on with the last value"),
    ] = "repeat"
    gap: Annotated[float, Field(ge=1, description="steps longer than so many typical ones are gaps")] = 3.0
    fill: Annotated[
        Fill, Field(description="in a gap: zeros, interpolate between its ends, or hold the value before it")
    ] = "zeros"
    factor: Annotated[
        Factor | tuple[Factor, ...],
        Field(description="what the watts are multiplied by; one number, or one for each client"),
    ] = 1.0

    def prepare(self, seed: int, clients: int, slots_per_epoch: int) -> Harvest:
        """Raises `ConfigError`, because watts are no units: `at_scale` returns the model that can be prepared.

        Args:
            seed: The seed of the run.
            clients: N.
            slots_per_epoch: S.
        """
        return self.at_scale(Scale()).prepare(seed, clients, slots_per_epoch)

    def at_scale(self, scale: Scale) -> Steady:
        """Returns the file as a model in units, after a check of every cell.

        Args:
            scale: Of the run.

        Raises:
            ConfigError: Slot or unit are not stated, or a setting is wrong.
            TraceError: The file can't be used.
        """
        scale.require("The file of watts")
        power = self._read()
        begin = self._begin(power.found)
        before = self._joules(power, np.array([begin]))

        def totals(slots: NDArray[np.int64]) -> NDArray[np.float64]:
            seconds = np.asarray(begin + slots * scale.slot_seconds, dtype=np.float64)
            return np.asarray(self._joules(power, seconds) - before)

        factor = np.asarray(self.factor, dtype=np.float64) / scale.unit_joules
        mean = power.joules[-1] / power.found.seconds * scale.slot_seconds
        units_per_joule = float(factor) if factor.ndim == 0 else tuple(factor.tolist())
        return Steady(totals, units_per_joule, lambda: mean, self.path, columns=power.found.columns)

    def describe(self) -> Findings:
        """Returns what was found in the file: rows, gaps, clock changes, mean power. Its text is a line for the user.

        Raises:
            TraceError: The file can't be used.
        """
        return self._read().found

    def _read(self) -> PowerFile:
        if self.path == NO_PATH:
            raise TraceError("There is no file of watts yet; set energy.path to a CSV file of times and watts.")
        path = Path(self.path)
        try:
            state = path.stat()
        except OSError as error:
            raise TraceError(f"The file {path} can't be read: {error.strerror or error}.") from error
        version = (str(path.resolve()), state.st_mtime_ns, state.st_size)
        return _read_once(path, version, self.timezone, self.gap, self.fill)

    def _begin(self, found: Findings) -> float:
        """Returns the seconds from the first stamp to the start of the run."""
        if not self.start:
            return 0.0
        moment = parse_moment("energy.start", self.start, parse_zone("energy.timezone", self.timezone))
        begin = (moment - found.first).total_seconds()
        if not 0 <= begin < found.seconds:
            raise ConfigError(
                f"energy.start = '{self.start}' is not in {self.path}, which has {found.seconds:.0f} seconds from "
                f"{found.first:%Y-%m-%dT%H:%M:%SZ}; choose a moment within, or leave it empty."
            )
        return begin

    def _joules(self, power: PowerFile, seconds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns the joules from the first stamp until some moments, also after the last row, shape (M, columns)."""
        length, total = power.edges[-1], power.joules[-1]
        if self.end == "repeat":
            times = np.floor(seconds / length)
            within = power.joules_until(np.clip(seconds - times * length, 0.0, length))
            # The limit keeps rounding from letting the total fall from one repetition to the next.
            return np.asarray(np.minimum(times[:, None] * total + within, (times[:, None] + 1) * total))
        within = power.joules_until(np.minimum(seconds, length))
        if self.end == "hold":
            within = within + np.maximum(seconds - length, 0.0)[:, None] * power.watts[-1]
        return within


@lru_cache(maxsize=4)
def _read_once(path: Path, _version: tuple[str, int, int], timezone: str, gap: float, fill: Fill) -> PowerFile:
    """Returns the power in a file, read once for each state of the file: a run describes it, and then uses it."""
    return read_power(path, parse_zone("energy.timezone", timezone), gap, fill)
