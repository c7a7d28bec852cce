"""What is counted: in an epoch by the world, over a run by its totals. A new counter is one field here."""

from dataclasses import dataclass, field, fields
from typing import Final

_LEVEL: Final = {"level": True}
"""Marks what stands at an epoch's end, and so is not summed over epochs."""


@dataclass(frozen=True, kw_only=True)
class Counters:
    """Sums over all clients, of an epoch or of a whole run. ``docs/metrics.md`` describes each.

    Attributes:
        harvested: Units harvested, before the cap.
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

    @property
    def consumed(self) -> int:
        """Units spent on anything."""
        return self.consumed_train + self.consumed_tx + self.consumed_probe

    def followed_by(self, later: "Counters") -> "Counters":
        """Returns the counters of both together: sums of what is counted, and the later level.

        Args:
            later: The counters of what came after.
        """
        mine, theirs = vars(self), vars(later)
        return Counters(**{name: theirs[name] + (0 if name in LEVELS else mine[name]) for name in COUNTERS})


COUNTERS = tuple(counter.name for counter in fields(Counters))
LEVELS = frozenset(counter.name for counter in fields(Counters) if counter.metadata)
