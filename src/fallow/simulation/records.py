"""What a run says of each epoch. ``docs/metrics.md`` describes every column."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import numpy as np

from fallow.simulation.events import Clients, Event


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
        mean_age_selected: Mean version age at the epoch's end, if being selected resets it; None without ages.
        mean_age_delivered: The same, if an update received resets it.
        train_loss: With learning: mean loss of the trainings started; None if none was.
        aggregated: With learning: updates that went into the model.
        dropped: With learning: updates received and not used, because they diverged or were discarded as too old.
        f1: With learning: macro F1 on the test set, in epochs that evaluate it; likewise accuracy, loss and recall,
            which has a number for each class.
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
    mean_age_selected: float | None = None
    mean_age_delivered: float | None = None
    train_loss: float | None = None
    aggregated: int | None = None
    dropped: int | None = None
    f1: float | None = None
    accuracy: float | None = None
    loss: float | None = None
    recall: tuple[float, ...] | None = None
    events: list[Event] = field(default_factory=list, repr=False)

    def row(self) -> dict[str, int | float | None]:
        """Returns the cells of epochs.csv by column; what was not measured is None."""
        recall = {f"recall_{label}": share for label, share in enumerate(self.recall or ())}
        return {name: getattr(self, name) for name in (*COLUMNS, *LEARNING_COLUMNS)} | recall


LEARNING_COLUMNS = ("train_loss", "aggregated", "dropped", "f1", "accuracy", "loss")
COLUMNS = tuple(
    column.name for column in fields(EpochRecord) if column.name not in (*LEARNING_COLUMNS, "recall", "events")
)


def columns(classes: int | None) -> tuple[str, ...]:
    """Returns the columns of epochs.csv; with learning of so many classes there are more."""
    if classes is None:
        return COLUMNS
    return (*COLUMNS, *LEARNING_COLUMNS, *(f"recall_{label}" for label in range(classes)))


def with_ages(events: list[Event], kept: Clients, dropped: Mapping[int, list[int]]) -> list[Event]:
    """Returns the events of an epoch with those added that every client's version age can be told from.

    Args:
        events: What happened in the world, in order.
        kept: Clients in whose eyes the model did not change significantly (M_i < μ), so that their age stays.
        dropped: Clients whose update was received and not used, by slot; to the age it is as if it had not come.
    """
    told: list[Event] = []
    for event in events:
        kind, slot, *_ = event
        if kind == "select" and kept.size:
            told.append(("keep", slot, kept, None))
        told.append(event)
        if kind == "upload" and slot in dropped:
            told.append(("drop", slot, np.array(dropped[slot]), None))
    return told
