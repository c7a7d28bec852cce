"""What is counted: in an epoch by the world, over a run by its totals. A new counter is one field here."""

from dataclasses import dataclass, field, fields
from typing import Final

_LEVEL: Final = {"level": True}
"""Marks what stands at an epoch's end, and so is not summed over epochs."""

_EXTENDED: Final = {"extended": True}
"""Marks what only a world beyond the paper's has, and only its runs write."""


@dataclass(frozen=True, kw_only=True)
class Counters:
    """Sums over all clients, of an epoch or of a whole run. ``docs/metrics.md`` describes each.

    Attributes:
        harvested: Units harvested, before any loss.
        consumed_train: Units spent on trainings started.
        consumed_tx: Units spent on uploads.
        consumed_probe: Units spent on probes.
        overflow: Units that the cap turned away.
        stored: Units in all batteries at the end.
        energy_total: Units consumed since the run began.
        selected: Clients selected.
        starts: Trainings started.
        finishes: Trainings finished.
        uploads: Updates received.
        stale_uploads: Those of them whose training started in an earlier epoch.
        consumed_listen: Units spent on hearing the server.
        consumed_download: Units spent on receiving models.
        consumed_idle: Units that devices drew while they were awake, whatever they did.
        conversion_loss: Units of the harvest that did not reach the battery.
        leakage: Units that leaked out of batteries.
        asleep: Slots that devices slept through, over all clients.
    """

    harvested: int = 0
    consumed_train: int = 0
    consumed_tx: int = 0
    consumed_probe: int = 0
    overflow: int = 0
    stored: int = field(default=0, metadata=_LEVEL)
    energy_total: int = field(default=0, metadata=_LEVEL)
    selected: int = 0
    starts: int = 0
    finishes: int = 0
    uploads: int = 0
    stale_uploads: int = 0
    consumed_listen: int = field(default=0, metadata=_EXTENDED)
    consumed_download: int = field(default=0, metadata=_EXTENDED)
    consumed_idle: int = field(default=0, metadata=_EXTENDED)
    conversion_loss: int = field(default=0, metadata=_EXTENDED)
    leakage: int = field(default=0, metadata=_EXTENDED)
    asleep: int = field(default=0, metadata=_EXTENDED)

    @property
    def consumed(self) -> int:
        """Units spent on anything."""
        paper = self.consumed_train + self.consumed_tx + self.consumed_probe
        return paper + self.consumed_listen + self.consumed_download + self.consumed_idle

    def followed_by(self, later: "Counters") -> "Counters":
        """Returns the counters of both together: sums of what is counted, and the later level.

        Args:
            later: The counters of what came after.
        """
        mine, theirs = vars(self), vars(later)
        return Counters(**{name: theirs[name] + (0 if name in LEVELS else mine[name]) for name in COUNTERS})

    def written(self, *, extended: bool) -> dict[str, int]:
        """Returns the counters that a run writes, by name.

        Args:
            extended: Whether its world has more than the paper's.
        """
        return {name: vars(self)[name] for name in (COUNTERS if extended else PAPER_COUNTERS)}


COUNTERS = tuple(counter.name for counter in fields(Counters))
LEVELS = frozenset(counter.name for counter in fields(Counters) if counter.metadata == _LEVEL)
EXTENDED_COUNTERS = tuple(counter.name for counter in fields(Counters) if counter.metadata == _EXTENDED)
PAPER_COUNTERS = tuple(name for name in COUNTERS if name not in EXTENDED_COUNTERS)
