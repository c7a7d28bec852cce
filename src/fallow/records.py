"""What a run says of each epoch. ``docs/metrics.md`` describes every column."""

from dataclasses import dataclass, field, fields

from fallow.world import Event


@dataclass(frozen=True)
class EpochRecord:
    """One epoch, over all clients: a row of epochs.csv, and the events behind it.

    Attributes:
        epoch: t, from 0.
        harvested: Units harvested in this epoch, before the cap.
        consumed_train: Units spent on trainings started in this epoch.
        consumed_tx: Units spent on uploads in this epoch.
        consumed_probe: Units spent on probes in this epoch.
        overflow: Units that the cap turned away in this epoch.
        stored: Units in all batteries at the epoch's end.
        energy_total: Units consumed since the run began.
        selected: Clients selected.
        starts: Trainings started; likewise finishes and uploads.
        stale_uploads: Uploads whose training started in an earlier epoch.
        mean_age_selected: Mean version age at the epoch's end, if being selected resets it.
        mean_age_delivered: The same, if an update received resets it.
        events: (kind, slot, clients, staleness), in order; empty where not asked for.
    """

    epoch: int
    harvested: int
    consumed_train: int
    consumed_tx: int
    consumed_probe: int
    overflow: int
    stored: int
    energy_total: int
    selected: int
    starts: int
    finishes: int
    uploads: int
    stale_uploads: int
    mean_age_selected: float
    mean_age_delivered: float
    events: list[Event] = field(default_factory=list, repr=False)

    def row(self) -> dict[str, int | float]:
        """Returns the columns of epochs.csv."""
        return {name: getattr(self, name) for name in COLUMNS}


COLUMNS = tuple(f.name for f in fields(EpochRecord) if f.name != "events")
